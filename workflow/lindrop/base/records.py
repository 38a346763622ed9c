"""Whether the records of Snakemake are those of the runs that made a folder of results.

Snakemake's records in `.snakemake` tell what each result was made from. Without them, or with those
of other runs, it takes any result for up to date, whatever the configuration says. Therefore each
folder of results and its records share a mark: the file `.mark` in the folder, and a file below
`.snakemake` for the path of the folder. Every run that makes something writes a new mark to both.
This reveals a copy of the folder from before that run, and another folder under the same path.
"""

import hashlib
import re
import secrets
from contextlib import suppress
from pathlib import Path

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError

MARKS = Path(".snakemake", "lindrop", "marks")
METADATA = Path(".snakemake", "metadata")
MARK = ".mark"
NOT_MADE = ("downloads", "logs", "benchmarks")


def mark(results: Path) -> None:
    """Mark a folder of results and the records as belonging together, at the start of a run."""
    text, earlier = secrets.token_hex(8), _mark_of(results)
    with suppress(OSError):  # a folder that cannot be written to gets no results either
        _write(_record(results), f"{earlier} {text}")  # the folder always has one of the two
        _write(results / MARK, text)
        _write(_record(results), text)


def require_records(results: Path) -> None:
    """Raise UserError if a folder holds results but the records are not those of their runs."""
    if not _known(results) and _holds_results(results):
        raise UserError(
            f"{results}: Snakemake's records of how these results were made are not in "
            ".snakemake, so they may be those of another configuration: delete them (`make clean` "
            "keeps the downloads), or bring back the folder .snakemake of the runs that made them"
        )


def _known(results: Path) -> bool:
    """Whether the records are those of the last run that marked this folder."""
    try:
        marks = _record(results).read_text(encoding="utf-8", errors="replace").split()
    except OSError:  # versions before marks wrote none
        return any(METADATA.glob("*"))
    return _mark_of(results) in marks


def _record(results: Path) -> Path:
    """File below `.snakemake` with the mark of the folder of results that has this path."""
    return MARKS / f"of-{hashlib.sha256(str(results).encode()).hexdigest()[:16]}"


def _write(file: Path, text: str) -> None:
    with atomic(file) as partial:
        partial.write_text(text, encoding="utf-8")


def _mark_of(results: Path) -> str:
    """Mark of a folder of results; empty if it has none, or none that `mark` wrote."""
    try:
        text = (results / MARK).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return text if re.fullmatch("[0-9a-f]{16}", text) else ""


def _holds_results(results: Path) -> bool:
    """Whether a folder holds any file that a rule made from others."""
    return any(
        file.is_file()
        for entry in (results.iterdir() if results.is_dir() else ())
        if entry.name not in NOT_MADE and not entry.name.startswith(".")
        for file in (entry.rglob("*") if entry.is_dir() else (entry,))
    )
