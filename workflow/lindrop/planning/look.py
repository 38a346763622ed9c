"""A fast look at the user's own files: they are read and split once, in a process of its own.

    python -m lindrop.planning.look < QUESTION > ANSWER

The true parsers and the true split answer, so nothing is estimated; the memory that they took ends
with the process. Answers are kept by the name, size and date of the files.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.data.archives import files_below
from lindrop.planning.sizes import DataSize
from lindrop.version import VERSION

if TYPE_CHECKING:
    from lindrop.data.split import Split

COLUMNS = ("format", "user", "item", "rating", "time")


def looked_at(
    entry: Mapping[str, Any], files: Mapping[str, str | Path], kept: Path | None = None
) -> DataSize:
    """Size of a dataset on this machine; UserError if its files cannot be read or split.

    `entry` is that of the checked configuration, `files` has the file `train` and those of other
    parts. `kept` is a file of answers to earlier questions, which are asked once only.
    """
    question = {
        "source": {key: entry["source"].get(key) for key in COLUMNS},
        "protocol": dict(entry["protocol"]),
        "files": {part: str(file) for part, file in files.items()},
    }
    key = _key(question)
    answers = _answers(kept)
    if key not in answers:
        answers[key] = _asked(question)
        if kept is not None:
            with atomic(kept) as partial:
                partial.write_text(json.dumps(answers, indent=1), encoding="utf-8")
    return DataSize(**answers[key])


def _key(question: Mapping[str, Any]) -> str:
    """Fingerprint of a question, of the version that answers it and of the state of its files."""
    states = [
        (file.name, file.stat().st_size, file.stat().st_mtime_ns)
        for path in question["files"].values()
        for file in files_below(Path(path))
    ]
    asked = json.dumps([VERSION, question, states], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def _answers(kept: Path | None) -> dict[str, Any]:
    """Answers that are kept in a file; none if it is missing or damaged."""
    try:
        found = json.loads(kept.read_text(encoding="utf-8")) if kept is not None else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _asked(question: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a process of its own; UserError with its message if it has none."""
    command = [sys.executable, "-m", "lindrop.planning.look"]
    done = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no answer"]
        raise UserError(lines[-1].removeprefix("lindrop: error: "))
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def counted(question: Mapping[str, Any]) -> DataSize:
    """Read and split the files of a question, as the jobs will, and count."""
    from lindrop.data.formats import read_interactions
    from lindrop.data.interactions import TEST, TRAIN, VALIDATION, joined
    from lindrop.data.split import protocol_of, split

    source, protocol = dict(question["source"]), question["protocol"]
    parts = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
    layout = {key: value for key, value in source.items() if value is not None}
    if protocol.get("split") in ("time", "leave_last") and source["format"] == "movielens":
        layout["time"] = "timestamp"
    elif protocol.get("split") not in ("time", "leave_last"):
        layout.pop("time", None)
    read = {
        parts[part]: read_interactions(file, min_rating=protocol.get("min_rating"), **layout)
        for part, file in sorted(question["files"].items(), key=lambda entry: parts[entry[0]])
    }
    data = joined(read) if len(read) > 1 else read[TRAIN]
    return size_of_split(split(data, protocol_of(protocol)), data.raw.rows)


def size_of_split(made: "Split", rows: int) -> DataSize:
    """Counts of a split, which was made from a number of rows."""
    import numpy as np

    per_user = np.bincount(made.train.uid).astype(float)
    return DataSize(
        rows=rows,
        users=len(made.users),
        items=len(made.items),
        train_users=made.n_train_users,
        entries=len(made.train),
        pairs=float(per_user @ per_user),
        tested=len(made.user_range("test/fold_in")),
        repeats=made.counts.duplicate_rows + made.counts.repeats_dropped,
    )


if __name__ == "__main__":
    try:
        print(json.dumps(asdict(counted(json.load(sys.stdin)))))
    except UserError as error:
        sys.exit(f"lindrop: error: {error}")
