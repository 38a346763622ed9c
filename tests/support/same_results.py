"""Whether two runs have the same results, byte for byte but for times: digests to compare.

    PYTHONPATH=workflow:tests python -m support.same_results OLD/results NEW/results

prints what is only in one of two folders, or differs. Checks are compared one by one, so runs from
before the house was rebuilt, which had a file for every claim, can be compared with later ones.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

import h5py
import pandas as pd

NO_RESULTS = ("logs/", "benchmarks/", "report")
COSTS = ["seconds", "megabytes"]  # columns of tables, attributes of metrics
# Checks of how long something takes, and all that quotes them.
MEASURED = re.compile("remark_5_1|theorem_2_2_time|remark_5_2_time")


def contents(results):
    """A digest of every result in a folder, but of drawings and times; of every claim's checks."""
    files = (file for file in results.rglob("*") if file.suffix in {".h5", ".csv", ".json"})
    names = {file.relative_to(results).as_posix(): file for file in files}
    parts = {
        part: content
        for name, file in names.items()
        if not name.startswith(NO_RESULTS)
        for part, content in _parts(name, file)
        if not MEASURED.search(part)
    }
    return {part: hashlib.sha256(content).hexdigest() for part, content in parts.items()}


def _parts(name, file):
    """What of a file is compared: its claims, else the whole of it."""
    if file.suffix == ".json" and name.startswith("experiments/"):
        return _claims(file)
    return [(name, _without_times(file))]


def _claims(file):
    """The checks of every claim in a file; before, one file held those of one claim."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    old = isinstance(stored, dict)
    lines = [{"claim": stored["claim"]} | line for line in stored["checks"]] if old else stored
    by_claim = {}
    for line in lines:
        by_claim.setdefault(line["claim"], []).append(line)
    folder = f"experiments/{file.parent.name}"
    return [(f"{folder}/{claim}", json.dumps(own).encode()) for claim, own in by_claim.items()]


def _without_times(file):
    """Its bytes; of tables and metrics all but what something took."""
    if file.suffix == ".csv" and "seconds" in (table := pd.read_csv(file)):
        return table.drop(columns=COSTS, errors="ignore").to_csv().encode()
    if file.parts[-3] == "metrics":
        return _metrics_without_costs(file)
    if file.name == "scorecard.csv":
        return "".join(line for line in file.open() if not MEASURED.search(line)).encode()
    return file.read_bytes()


def _metrics_without_costs(file):
    """Every array and attribute of a file of metrics but what the fits took."""
    found = []

    def add(name, entry):
        attributes = {key: str(entry.attrs[key]) for key in entry.attrs if key not in COSTS}
        values = entry[()].tobytes() if isinstance(entry, h5py.Dataset) else b""
        found.append((name, sorted(attributes.items()), values))

    with h5py.File(file) as metrics:
        metrics.visititems(add)
    return repr(found).encode()


def differences(old, new):
    """A line for every result that only one folder has, or that is another in each."""
    before, after = contents(old), contents(new)
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"only in {old}: {name}"
        elif name not in before:
            yield f"only in {new}: {name}"
        elif before[name] != after[name]:
            yield f"differs: {name}"


if __name__ == "__main__":
    found = list(differences(*map(Path, sys.argv[1:])))
    print("\n".join(found) or "the same")
    sys.exit(bool(found))
