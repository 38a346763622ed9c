"""Read DATA and the model of a command, and check its settings as those of a configuration."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from lindrop.base.atomic import require_writable
from lindrop.base.errors import UserError
from lindrop.cli.options import READING, as_option, given
from lindrop.cli.talk import Talk, with_flags
from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.data.formats import TABLES, WITHOUT_TIMES, read_interactions
from lindrop.data.interactions import TEST, TRAIN, VALIDATION, Ids, Interactions, joined
from lindrop.data.recognise import columns_of, format_of
from lindrop.data.split import (
    AnyProtocol,
    Protocol,
    Split,
    all_kept,
    protocol_of,
    split,
    users_left,
)
from lindrop.data.tables import Columns
from lindrop.planning.look import size_of_split
from lindrop.planning.sizes import DataSize
from lindrop.serving.histories import Histories, histories_of
from lindrop.store.left_out import require_result
from lindrop.store.model import SavedModel, read_model
from lindrop.store.seal import is_stored
from lindrop.store.split import read_all_interactions, read_split, read_treatment

SHARE, MOST = 10, 10_000  # held-out users: one of so many, and at most
OTHER_FILES = {"test": TEST, "validation": VALIDATION}
ENDINGS = r"(\.split)?\.(csv|tsv|txt|dat|parquet|zip|tar|tgz|h5)(\.gz)?$"


@dataclass(frozen=True)
class Source:
    """How DATA is read: its format, and the columns of a table."""

    path: Path
    format: str
    columns: Columns | None = None

    @classmethod
    def of(cls, path: Path, options: Mapping[str, Any], earlier: Mapping[str, Any]) -> "Source":
        """The source that the options name, completed as in `earlier`, then by usual names."""
        if is_stored(path):
            raise UserError(f"{path}: a file that lindrop made of interactions; name the original")
        form = options.get("format") or format_of(path)
        named = {role: options.get(role) for role in READING}
        if form not in TABLES:
            if wrong := [f"--{role}" for role, name in named.items() if name is not None]:
                raise UserError(f"{path}: {wrong[0]}: a file of format {form} has no such column")
            return cls(path, form)
        return cls(path, form, columns_of(path, form, named, earlier))

    def said(self) -> str:
        """What is read, in words."""
        if self.columns is None:
            return f"reading {self.path}: {self.format}"
        names = f"users in column {self.columns.user}, items in column {self.columns.item}"
        return f"reading {self.path}: {self.format}, {names}"

    def read(self, min_rating: float | None, timed: bool = False) -> Interactions:
        """The interactions; times are read only if they are needed."""
        columns: dict[str, Any] = {}
        if self.columns is not None:
            columns = {role: getattr(self.columns, role) for role in READING}
        if not timed or self.format in WITHOUT_TIMES:
            columns["time"] = None
        elif self.format == "movielens":
            columns["time"] = "timestamp"
        return read_interactions(self.path, self.format, min_rating=min_rating, **columns)

    def settings(self, min_rating: float | None) -> dict[str, Any]:
        """What a model remembers of it."""
        named = vars(self.columns) if self.columns else {}
        return {role: name for role, name in named.items() if name} | (
            {} if min_rating is None else {"min_rating": min_rating}
        )


def settings_of(
    options: Mapping[str, Any], protocol: Mapping[str, Any], form: str = "csv"
) -> dict[str, Any]:
    """The options as a checked configuration with one dataset, `data`, and its protocol.

    The source of this dataset is any folder: DATA need not be one that Snakemake can read.
    """
    source: dict[str, Any] = {"format": form, "path": "."}
    if form in TABLES:
        source |= {"rating": "rating", "time": "time"}
    if protocol.get("split") == "given":
        source["test"] = "."
    config = {"datasets": {"data": {"source": source, "protocol": dict(protocol)}}}
    try:
        return checked(config | given(options), load_schema())
    except UserError as error:
        raise as_option(error) from error


@dataclass(frozen=True)
class Loaded:
    """Interactions of DATA, the protocol of the options, and what a model remembers of DATA."""

    interactions: Interactions
    protocol: AnyProtocol
    source: Mapping[str, Any]

    def everything(self, tell: bool = False) -> tuple[Ids, Ids, sp.csr_array]:
        """Ids of the users and of the items that the filters keep, and all their interactions.

        With `tell`, rows that repeat a pair are told.
        """
        return all_kept(self.interactions, self.protocol, tell)


@dataclass(frozen=True)
class Divided:
    """A split, and the interactions that it was made from unless it was read from a file."""

    path: Path
    split: Split
    loaded: Loaded | None = None

    def size(self) -> DataSize:
        """Counts by which time and memory are predicted."""
        rows = self.split.counts.interactions
        return size_of_split(self.split, self.loaded.interactions.raw.rows if self.loaded else rows)

    @property
    def source(self) -> Mapping[str, Any]:
        """What a model remembers of DATA."""
        return self.loaded.source if self.loaded else read_treatment(self.path)

    def everything(self) -> tuple[Ids, Ids, sp.csr_array]:
        """Ids of all users and items, held-out ones included, and their interactions.

        A split that was read knows no items but those of its training users.
        """
        if self.loaded is not None:
            return self.loaded.everything()
        users, x = read_all_interactions(self.path)
        return users, self.split.items, x


def divided(path: Path, options: Mapping[str, Any], talk: Talk) -> Divided:
    """The split of DATA with the options of its protocol; a file that is a split is read."""
    protocol = given(options, "protocol_")
    if is_stored(path):
        wrong = [*protocol, *(key for key in READING if options.get(key) is not None)]
        if wrong:
            flag = wrong[0].replace("_", "-")
            raise UserError(f"{path}: --{flag}: the file is split already; name the original file")
        return Divided(path, read_split(path))
    loaded = load(path, options, talk)
    made = loaded.protocol
    if isinstance(made, Protocol) and "heldout_users" not in protocol:
        held = min(MOST, users_left(loaded.interactions, made) // SHARE)
        made = replace(made, heldout_users=max(1, held))
    try:
        parts = split(loaded.interactions, made)
    except UserError as error:
        raise UserError(with_flags(str(error))) from error
    _say_split(parts, talk)
    return Divided(path, parts, loaded)


def load(path: Path, options: Mapping[str, Any], talk: Talk) -> Loaded:
    """The interactions of DATA with the options of its protocol."""
    protocol = given(options, "protocol_")
    for part in OTHER_FILES:
        if options.get(part) is not None and protocol.get("split") != "given":
            raise UserError(f"--{part}: a file of {part} interactions needs --split given")
    source = Source.of(path, options, {})
    talk.say(source.said())
    one = {"heldout_users": 1} if protocol.get("split", "users") == "users" else {}
    settings = settings_of({}, one | protocol, source.format)["datasets"]["data"]["protocol"]
    if settings["split"] in ("time", "leave_last") and source.columns:
        when = source.columns.time
        unknown = "no column of times is known: name it by --time COLUMN"
        talk.say(f"times in column {when}" if when else unknown)
    data = _read(source, options, settings)
    _say_counts(data, talk)
    if source.columns and source.columns.rating and data.min_rating is None:
        talk.say(
            f"column {source.columns.rating} is not used: --min-rating 3.5 would keep what is "
            "rated above 3.5"
        )
    remembered = source.settings(data.min_rating) | {"repeats": settings["repeats"]}
    return Loaded(data, protocol_of(settings), remembered)


def _read(source: Source, options: Mapping[str, Any], protocol: Mapping[str, Any]) -> Interactions:
    """Interactions of DATA, and of the files of a given split."""
    least, by = protocol["min_rating"], protocol["split"]
    has_time = source.columns is None or source.columns.time is not None
    if by == "time" and not has_time:
        raise UserError(f"{source.path}: --split time needs the column of times: --time COLUMN")
    if least is not None and source.columns and source.columns.rating is None:
        raise UserError(f"{source.path}: --min-rating needs the column of ratings: --rating COLUMN")
    timed = by == "time" or (by == "leave_last" and has_time)
    data = source.read(least, timed)
    if by != "given":
        return data
    if options.get("test") is None:
        raise UserError("--split given needs --test, the file of test interactions")
    files = {TRAIN: data}
    for part, number in OTHER_FILES.items():
        if options.get(part) is not None:
            files[number] = Source(options[part], source.format, source.columns).read(least)
    return joined(files)


def say_density(x: sp.csr_array, talk: Talk) -> None:
    """Say which share of all pairs of a user and an item are interactions."""
    (users, items), pairs = x.shape, x.nnz
    talk.say(
        f"training: {pairs:,} of {users:,} × {items:,} pairs of user and item, "
        f"{100 * pairs / (users * items):.3g} %"
    )


def _say_counts(data: Interactions, talk: Talk) -> None:
    """Say how much was read."""
    talk.say(f"{data.raw.rows:,} rows: {data.raw.users:,} users, {data.raw.items:,} items")
    if data.min_rating is not None:
        talk.say(f"{len(data):,} of them are rated above {data.min_rating:g}")


def _say_split(parts: Split, talk: Talk) -> None:
    """Say how users are divided, and what the filters dropped."""
    counts, held = parts.counts, parts.protocol.heldout_users
    if counts.users_dropped or counts.items_dropped:
        talk.say(f"dropped: {counts.users_dropped:,} users, {counts.items_dropped:,} items")
    if counts.duplicate_rows:
        talk.say(f"{counts.duplicate_rows:,} rows repeat an earlier one", "yellow")
    tested = len(np.unique(parts.test.held_out.uid))
    if held is not None:
        talk.say(
            f"split: {parts.n_train_users:,} users train, {held:,} validate, {held:,} test "
            f"({tested:,} of them with enough interactions)"
        )
    else:
        talk.say(f"split: {parts.n_train_users:,} users train, {tested:,} of them are tested")
    say_density(parts.matrix("train"), talk)


def require_tested(parts: Split, path: Path) -> None:
    """Raise UserError where no test user has an item to find: any model would be the best one."""
    if not len(parts.test.held_out):
        raise UserError(
            f"{path}: none of the test users has an item to find, so no model can be tested: raise "
            "--heldout-users, or split by --split leave_last"
        )


def saved_model(path: Path) -> SavedModel:
    """A saved model; UserError for a file that is none."""
    if not path.is_file():
        raise UserError(f"{path}: no such model; `lindrop tune` and `lindrop fit` make one")
    if not is_stored(path):
        require_result(path)
        raise UserError(f"{path}: not a model of lindrop; the model comes first, then the data")
    return read_model(path)


def histories(path: Path, model: SavedModel, options: Mapping[str, Any], talk: Talk) -> Histories:
    """What the users of DATA have, over the items of a model, read as the model's own data."""
    source = Source.of(path, options, model.source)
    least = options.get("min_rating")
    rated = source.columns is None or source.columns.rating is not None
    of_model = model.source.get("min_rating")
    if least is None and rated and source.format != "adjacency":
        least = of_model
    above = "" if least is None else f", ratings above {least:g}"
    talk.say(source.said() + above)
    if least is None and of_model is not None:
        name_it = "" if source.columns is None else " (--rating COLUMN)"
        talk.say(
            f"note: the model was fitted to ratings above {of_model:g}; no ratings are known here, "
            f"so every row counts{name_it}",
            "yellow",
        )
    found = histories_of(source.read(least), model.items, model.weighted)
    if found.unknown:
        talk.say(f"note: {found.unknown:,} of its items are not known to the model", "yellow")
    if found.x.nnz == 0:
        raise UserError(f"{path}: the model knows none of its items; is this the right file?")
    return found


def target(path: Path | None, default: str, inputs: Sequence[Path]) -> Path:
    """The file to write, which must be none of the files that are read, and can be written."""
    chosen = Path(default) if path is None else path
    for given_file in inputs:
        if chosen.exists() and given_file.exists() and chosen.samefile(given_file):
            raise UserError(f"-o {chosen}: this file is read; name another one")
    require_writable(chosen)
    return chosen


def stem(path: Path) -> str:
    """Name of a file or folder without what says its format: my.v2 of my.v2.csv.gz."""
    return re.sub(ENDINGS, "", path.resolve().name, flags=re.IGNORECASE) or "data"
