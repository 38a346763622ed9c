"""Look at the columns of a dataset's files without reading their rows, before anything starts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet

from lindrop.data import delimited, folders
from lindrop.data.archives import require_file
from lindrop.data.delimited import CSV, TSV
from lindrop.data.formats import TABLES
from lindrop.data.parquet import reading_parquet
from lindrop.data.tables import Columns, require_columns


def check_headers(path: Path, source: Mapping[str, Any], min_rating: float | None) -> None:
    """Raise UserError unless every file of a table is there and has the columns of its source.

    Other formats are recognised by their first rows, which only the job that reads them looks at.
    """
    require_file(path)
    if source["format"] not in TABLES:
        return
    rating = None if min_rating is None else source["rating"]
    columns = Columns(source["user"], source["item"], rating, source["time"])
    files = folders.files_of(path, source["format"]) if path.is_dir() else [path]
    for file in files:
        require_columns(columns, *_names(file, source["format"]))


def _names(file: Path, format: str) -> tuple[list[str], str]:
    """Names of the columns of a file, and what the file is called."""
    if format == "parquet":
        with reading_parquet(file):
            return pyarrow.parquet.read_schema(file).names, str(file)
    member = delimited.text_member(file)
    return delimited.header(member, CSV if format == "csv" else TSV), member.name
