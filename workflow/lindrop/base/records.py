"""Whether the records of Snakemake are those of the runs that made a folder of results.

Snakemake's records in `.snakemake` tell what each result was made from. Without them, or with those
of other runs, it takes any result for up to date, whatever the configuration says. Therefore each
folder of results and its records share a mark: the file `.mark` in the folder, whose text is also
the name of a file below `.snakemake`.
"""

import re
import secrets
from contextlib import suppress
from pathlib import Path

from lindrop.base.errors import UserError

MARKS = Path(".snakemake", "lindrop", "marks")
METADATA = Path(".snakemake", "metadata")
MARK = ".mark"
NOT_MADE = ("downloads", "logs", "benchmarks")


def mark(results: Path) -> None:
    """Mark a folder of results and the records as belonging together, unless they are already."""
    if _mark_of(results) and (MARKS / _mark_of(results)).exists():
        return
    text = secrets.token_hex(8)
    with suppress(OSError):  # a folder that cannot be written to gets no results either
        MARKS.mkdir(parents=True, exist_ok=True)
        (MARKS / text).touch()
        results.mkdir(parents=True, exist_ok=True)
        (results / MARK).write_text(text, encoding="utf-8")


def require_records(results: Path) -> None:
    """Raise UserError if a folder holds results but the records are not those of their runs."""
    text = _mark_of(results)
    # where there is no mark, the records are of runs before there were marks
    known = (MARKS / text).exists() if text else any(METADATA.glob("*"))
    if not known and _holds_results(results):
        raise UserError(
            f"{results}: Snakemake's records of how these results were made are not in "
            ".snakemake, so they may be those of another configuration: delete them (`make clean` "
            "keeps the downloads), or bring back the folder .snakemake of the runs that made them"
        )


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
