"""Read a dataset in any supported format with one function."""

from pathlib import Path

from lindrop.base.errors import UserError
from lindrop.data import delimited, movielens, msd, netflix
from lindrop.data.delimited import Columns
from lindrop.data.interactions import Interactions

PUBLISHED = {"movielens": movielens.read, "netflix": netflix.read, "msd": msd.read}
TABLES = ("csv", "tsv", "parquet")


def read_interactions(
    path: str | Path,
    format: str,
    *,
    min_rating: float | None = None,
    user: str = "user",
    item: str = "item",
    rating: str | None = None,
) -> Interactions:
    """Read implicit feedback from a published archive or from a table of your own.

    Only ratings strictly greater than `min_rating` are kept (docs/protocol.md, step 1). `user`,
    `item` and `rating` name the columns of a csv, tsv or parquet file.
    """
    path = Path(path)
    if not path.exists():
        raise UserError(f"{path}: no such file")
    if format in PUBLISHED:
        return PUBLISHED[format](path, min_rating)
    if format not in TABLES:
        raise UserError(f"format {format!r} is not one of {', '.join([*PUBLISHED, *TABLES])}")
    if min_rating is not None and rating is None:
        raise UserError(f"{path}: min_rating needs `rating`, the name of the rating column")
    columns = Columns(user, item, rating)
    if len(set(columns.wanted())) < len(columns.wanted()):
        raise UserError(f"{path}: user, item and rating must be different columns")
    if format == "parquet":
        return delimited.read_parquet(path, columns, min_rating)
    layout = delimited.CSV if format == "csv" else delimited.TSV
    return delimited.read_text(path, layout, columns, min_rating)
