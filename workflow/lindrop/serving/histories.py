"""Interactions that come from the user's own program, as a matrix of histories.

They may be a DataFrame (pandas, polars, pyarrow, or any other that speaks Arrow) with a row per
interaction, a mapping from users to their items, a list of the items of one user, or a matrix of
users × items whose columns are in the order of the model's items. Ids are compared as text.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger
from lindrop.data.interactions import Ids, Interactions, as_strings, as_texts, listed
from lindrop.linalg.interactions import interactions

ID_TYPES = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string)
COLUMNS = ("user", "item")  # of a table whose columns nobody has named
ONLY_USER = "0"  # name of the user whose history is a plain list
VIEWS = ("is_string_view",)  # polars names its texts so; not known to every version of pyarrow


@dataclass(frozen=True)
class Histories:
    """What users have had: `x` is users × items, `unknown` the ignored items.

    A user is a row of `x` with the id in `users`. Its entries are ones or, for a model to which a
    repeated pair was as many interactions, how often the user has the item.
    """

    users: Ids
    x: sp.csr_array
    unknown: int = 0


def read_histories(
    given: Any,
    items: Ids,
    users: Iterable[Any] | None = None,
    columns: tuple[str, str] = COLUMNS,
    weighted: bool = False,
) -> Histories:
    """Histories over the items of a model, of all users given or of the `users` named, in order.

    Repeated pairs count once, or with `weighted` as often as they are there; the entries of a
    matrix then count as they are. Items that are not among `items` are ignored and counted. A user
    of `users` without interactions has an empty history. `columns` names those of a DataFrame.
    """
    if sp.issparse(given) or isinstance(given, np.ndarray):
        found = _of_matrix(given, items, weighted)
    else:
        user, item = _pairs(given, columns)
        found = _of_pairs(user, item, as_strings(items), weighted)
        if users is None and isinstance(given, Mapping):  # so that nobody without items is lost
            users = list(given)
        elif users is None and isinstance(given, Sequence):
            users = [ONLY_USER]
    return found if users is None else chosen(found, listed(users, "users"))


def columns_of_model(given: Any, source: Mapping[str, Any]) -> tuple[str, str]:
    """The columns of users and items in a table: those that the model was fitted with, if there.

    `source` is what the model remembers.
    """
    names = source.get("user"), source.get("item")
    # pyarrow has names there, others in `columns`
    there = list(getattr(given, "column_names", getattr(given, "columns", ())))
    known = all(name is not None and name in there for name in names)
    return (str(names[0]), str(names[1])) if known else COLUMNS


def as_rated(given: Any, source: Mapping[str, Any]) -> Any:
    """The rows of a table that a model's min_rating keeps; anything else as it is.

    `source` is what the model remembers. A table without the column of ratings is kept whole: its
    rows may have been chosen before.
    """
    least, name = source.get("min_rating"), source.get("rating", "rating")
    is_pandas = isinstance(given, pd.DataFrame)
    if least is None or not (is_pandas or hasattr(given, "__arrow_c_stream__")):
        return given
    table = given if is_pandas else pa.table(given)
    known = list(table.columns) if is_pandas else table.column_names
    if known.count(name) > 1:
        raise UserError(f"{known.count(name)} columns have the name {name!r}; leave one of them")
    if name in known:
        ratings = np.asarray(table[name])
    elif is_pandas and name in table.index.names:
        ratings = np.asarray(table.index.get_level_values(name))
    else:
        return given
    if not np.issubdtype(ratings.dtype, np.number) or not np.isfinite(ratings).all():
        raise UserError(f"column {name!r}: the model needs a rating in every row, as a number")
    kept = ratings > least
    logger.info("%d of %d rows are rated above %g", kept.sum(), len(kept), least)
    return table[kept] if is_pandas else table.filter(pa.array(kept))


def histories_of(data: Interactions, items: Ids, weighted: bool = False) -> Histories:
    """Histories over the items of a model, of all users of interactions read from a file.

    Repeated pairs count once, or with `weighted` as often as they are there.
    """
    place = pc.index_in(as_strings(data.item_ids), as_strings(items)).fill_null(-1).to_numpy()
    column = place.astype(np.int32)[data.item]
    known, shape = column >= 0, (len(data.user_ids), len(items))
    x = _matrix(data.user[known], column[known], shape, weighted)
    return Histories(as_texts(data.user_ids), x, len(np.unique(data.item[~known])))


def read_ids(path: str | Path) -> pa.Array:
    """Ids of a file with one per line; empty lines are skipped.

    Lines end as in the data: other separators, such as U+2028, are a part of an id.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text") from error
    ids = [line for line in text.split("\n") if line]
    if not ids:
        raise UserError(f"{path}: no id in it; write one id per line")
    if len(set(ids)) < len(ids):
        raise UserError(
            f"{path}: {len(ids) - len(set(ids)):,} of its {len(ids):,} lines repeat an id"
        )
    return pa.array(ids, pa.string())


def user_ids(given: Any, columns: tuple[str, str]) -> Ids:
    """The distinct users of interactions, in the order of their first appearance."""
    return _objects(_pairs(given, columns)[0].unique())


def item_ids(given: Any, columns: tuple[str, str]) -> Ids:
    """The distinct items of interactions, in the order of their first appearance."""
    return _objects(_pairs(given, columns)[1].unique())


def positions(ids: Any, items: Ids, what: str) -> npt.NDArray[np.int64]:
    """Columns of these items; UserError if the model does not know one, which `what` names."""
    texts = listed(ids, what)
    found = pc.index_in(texts, as_strings(items))
    if found.null_count:
        first = texts.filter(pc.is_null(found))[0].as_py()
        raise UserError(f"{what}: the model does not know the item {first!r}")
    places: npt.NDArray[np.int64] = found.to_numpy().astype(np.int64)
    return places


def _pairs(given: Any, columns: tuple[str, str]) -> tuple[pa.Array, pa.Array]:
    """Users and items of interactions as texts, one entry per interaction."""
    if isinstance(given, str):
        raise UserError(f"interactions are a table or a list of items, not the text {given!r}")
    if isinstance(given, Mapping):
        return _pairs_of_mapping(given, columns)
    if isinstance(given, Sequence):
        item = listed(given, "items")
        return pa.array([ONLY_USER] * len(item), pa.string()), item
    if isinstance(columns, str) or len(set(columns)) != 2 or len(columns) != 2:
        raise UserError(f"columns: the names of two columns, of users and items, not {columns!r}")
    user, item = (
        _texts(values, f"column {name!r}")
        for name, values in zip(columns, _columns_of(given, columns), strict=True)
    )
    return user, item


def _pairs_of_mapping(
    given: Mapping[Any, Any], columns: Sequence[str]
) -> tuple[pa.Array, pa.Array]:
    """Users and items of a mapping from users to their items."""
    if set(given) == set(columns):
        raise UserError(
            "interactions: a mapping goes from users to their items; make a DataFrame of a mapping "
            "of columns"
        )
    users = listed(given, "users")
    if users and len(users.unique()) < len(users):
        twice = Counter(users.to_pylist()).most_common(1)[0][0]
        raise UserError(f"users: {twice!r} is there as a text and as a number, which are one id")
    lists = [listed(items, f"items of {user!r}") for user, items in given.items()]
    user = np.repeat(np.arange(len(lists)), [len(items) for items in lists])
    items = pa.concat_arrays(lists) if lists else pa.array([], pa.string())
    return users.take(pa.array(user, pa.int64())), items


def _columns_of(given: Any, names: Sequence[str]) -> list[pa.Array | pa.ChunkedArray]:
    """The named columns of a table, or levels of pandas' index; other columns may hold anything."""
    read: Callable[[str], Any]
    if isinstance(given, pd.DataFrame):
        levels = [name for name in given.index.names if name in names and name not in given]
        table = given.reset_index(levels) if levels else given
        known = list(table.columns)

        def read(name: str) -> pa.Array:
            return pa.array(table[name], from_pandas=True)

    else:
        try:
            table = pa.table(given)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise UserError(
                "interactions are a DataFrame, a matrix, a list of items or a mapping from users "
                f"to items, not {type(given).__name__}"
            ) from error
        known, read = table.column_names, table.column
    for name in names:
        if (there := known.count(name)) != 1:
            problem = f"{there} columns have the name" if there else "no column"
            raise UserError(
                f"{problem} {name!r}; the columns are {', '.join(map(str, known))}: name those of "
                "users and items, as in columns=('user', 'item')"
            )
    found = []
    for name in names:
        try:
            found.append(read(name))
        except (UnicodeEncodeError, pa.ArrowException) as error:
            raise UserError(
                f"column {name!r}: ids are all texts or all integers ({error})"
            ) from error
    return found


def _texts(ids: pa.Array | pa.ChunkedArray, what: str) -> pa.Array:
    """Ids as one array of texts; UserError if one is missing or is neither a text nor an integer.

    A number with a decimal point is refused: 7 and 7.0 would be two items.
    """
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    tests = [*ID_TYPES, *(getattr(pa.types, name) for name in VIEWS if hasattr(pa.types, name))]
    if len(ids) == 0:
        return pa.array([], pa.string())
    if not any(test(ids.type) for test in tests):
        raise UserError(f"{what}: ids are texts or integers, not {ids.type}")
    if ids.null_count:
        raise UserError(f"{what}: {ids.null_count:,} of {len(ids):,} ids are missing")
    return ids.cast(pa.string())


def _of_pairs(user: pa.Array, item: pa.Array, items: pa.Array, weighted: bool) -> Histories:
    """Histories of pairs; users in the order of their first appearance."""
    users, coded = user.dictionary_encode(), item.dictionary_encode()
    place = pc.index_in(coded.dictionary, items).fill_null(-1).to_numpy().astype(np.int32)
    row, column = users.indices.to_numpy(), place[coded.indices.to_numpy()]
    known = column >= 0
    return Histories(
        _objects(users.dictionary),
        _matrix(row[known], column[known], (len(users.dictionary), len(items)), weighted),
        int((place < 0).sum()),
    )


def _of_matrix(given: Any, items: Ids, weighted: bool) -> Histories:
    """Histories of a matrix; its users are named by the numbers of their rows."""
    x = interactions(given, "the interactions")
    if x.shape[1] != len(items):
        raise UserError(
            f"the interactions have {x.shape[1]:,} columns, the model has {len(items):,} items: "
            "the columns must be the model's items in their order"
        )
    if (x.data < 0).any():
        raise UserError("the interactions hold negative entries, which are none; remove them")
    entries = x.data.astype(np.float32) if weighted else np.ones(x.nnz, np.float32)
    x = sp.csr_array((entries, x.indices, x.indptr), shape=x.shape)
    return Histories(np.arange(x.shape[0]).astype(str).astype(object), x)


def _matrix(
    row: npt.NDArray[np.int32],
    column: npt.NDArray[np.int32],
    shape: tuple[int, int],
    weighted: bool,
) -> sp.csr_array:
    """The matrix with a one at each of these places or, `weighted`, how often a place is named."""
    x = sp.csr_array((np.ones(len(row), np.float32), (row, column)), shape=shape)
    x.sum_duplicates()
    if not weighted:
        x.data[:] = 1
    return x


def chosen(found: Histories, users: pa.Array) -> Histories:
    """Histories of the named users in their order, empty for those who have none."""
    row = pc.index_in(users, as_strings(found.users))
    if row.null_count:
        example = users.filter(pc.is_null(row))[0].as_py()
        logger.warning(
            "%d of %d users have no interactions, such as %r", row.null_count, len(users), example
        )
    rows = row.fill_null(len(found.users)).to_numpy().astype(np.int64)
    padded = sp.vstack([found.x, sp.csr_array((1, found.x.shape[1]), dtype=np.float32)], "csr")
    return Histories(_objects(users), sp.csr_array(padded[rows]), found.unknown)


def _objects(ids: pa.Array) -> Ids:
    """Texts as NumPy's array of Python texts."""
    texts: Ids = ids.to_numpy(zero_copy_only=False).astype(object)
    return texts
