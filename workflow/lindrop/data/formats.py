"""Read a dataset in any supported format with one function."""

from pathlib import Path

from lindrop.base.errors import UserError
from lindrop.data import adjacency, delimited, folders, movielens, msd, netflix, parquet
from lindrop.data.archives import require_file
from lindrop.data.interactions import Interactions
from lindrop.data.tables import Columns

PUBLISHED = {"movielens": movielens.read, "netflix": netflix.read, "msd": msd.read}
TABLES = ("csv", "tsv", "parquet")
WITHOUT_TIMES = ("netflix", "msd", "adjacency")


def read_interactions(
    path: str | Path,
    format: str,
    *,
    min_rating: float | None = None,
    user: str = "user",
    item: str = "item",
    rating: str | None = None,
    time: str | None = None,
) -> Interactions:
    """Read implicit feedback from a published archive or from a table of your own.

    Only ratings strictly greater than `min_rating` are kept (docs/protocol.md, step 1). `user`,
    `item`, `rating` and `time` name the columns of a csv, tsv or parquet file, or of a folder of
    such files, which are read one after the other; any `time` asks for those of a MovieLens file.
    UserError for ratings or times that are not read from a format.
    """
    path = Path(path)
    require_file(path)
    if format == "adjacency" and min_rating is not None:
        raise UserError(f"{path}: min_rating is {min_rating}, but format adjacency has no ratings")
    if format in WITHOUT_TIMES and time is not None:
        raise UserError(f"{path}: times are asked for, but none are read from format {format}")
    if format == "movielens":
        return movielens.read(path, min_rating, timed=time is not None)
    if format in PUBLISHED:
        return PUBLISHED[format](path, min_rating)
    if format == "adjacency":
        return adjacency.read(path)
    if format not in TABLES:
        known = ", ".join([*PUBLISHED, *TABLES, "adjacency"])
        raise UserError(f"format {format!r} is not one of {known}")
    if min_rating is not None and rating is None:
        raise UserError(f"{path}: min_rating needs `rating`, the name of the rating column")
    columns = Columns(user, item, rating, time)
    if len(set(columns.wanted())) < len(columns.wanted()):
        raise UserError(f"{path}: user, item, rating and time must be different columns")
    if path.is_dir():
        return folders.read_folder(path, format, columns, min_rating)
    if format == "parquet":
        return parquet.read_parquet(path, columns, min_rating)
    layout = delimited.CSV if format == "csv" else delimited.TSV
    return delimited.read_text(path, layout, columns, min_rating)
