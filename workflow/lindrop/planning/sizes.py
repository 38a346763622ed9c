"""How large the data of a run are: read, generated, published, or stated by the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lindrop.data.synthetic.recipe import PRESETS, recipe_of
from lindrop.models.memory import Size

SPREAD = 3.0  # mean of the squares of the users' numbers of items, over the square of the mean
PAPER_SETS = {"ML-20M": "ml-20m", "Netflix": "netflix", "MSD": "msd"}


@dataclass(frozen=True)
class DataSize:
    """Counts of a dataset after the filters of its protocol, on which time and memory depend.

    `rows` are those of the file, `entries` those of the training users, `pairs` the pairs of items
    that these users have together, `tested` the users whose rankings are evaluated. `known` says
    where the counts are from.
    """

    rows: int
    users: int
    items: int
    train_users: int
    entries: int
    pairs: float
    tested: int
    repeats: int | None = None
    known: str = "read"

    @property
    def per_user(self) -> float:
        """Mean number of items of a training user."""
        return self.entries / max(self.train_users, 1)

    @property
    def density(self) -> float:
        """Share of all pairs of a training user and an item that are interactions."""
        return self.per_user / max(self.items, 1)

    def of_fit(self, rank: int = 0) -> Size:
        """The counts by which memory is estimated, with `rank` stored eigenpairs."""
        return Size(self.train_users, self.items, self.entries, rank, self.tested)


def stated_size(entry: Mapping[str, Any]) -> DataSize | None:
    """Size of a dataset that is not read: of the generator, as published, or as stated; else None.

    `entry` is that of the checked configuration. Filters of the protocol make stated sizes smaller.
    """
    source, protocol = entry["source"], entry["protocol"]
    if source["format"] == "synthetic":
        sizes = {key: source[key] for key in ("users", "items", "interactions")}
        recipe = recipe_of(source["preset"], **sizes)
        counts = recipe.interactions, recipe.users, recipe.items
        return _size(counts, protocol, "generated")
    if entry["paper"] in PAPER_SETS:
        preset = PRESETS[PAPER_SETS[entry["paper"]]]
        return _size((preset.interactions, preset.users, preset.items), protocol, "published")
    counts = source["rows"], source["users"], source["items"]
    return None if None in counts else _size(counts, protocol, "stated, before its filters")


def planned_size(size: Size) -> DataSize:
    """The size of a split, in which nothing but its counts is known."""
    pairs = SPREAD * size.entries**2 / max(size.users, 1)
    counts = size.users, size.items, size.users, size.entries
    return DataSize(size.entries, *counts, pairs, size.tested, None, "split")


def _size(counts: tuple[int, int, int], protocol: Mapping[str, Any], known: str) -> DataSize:
    rows, users, items = counts
    held = protocol.get("heldout_users")
    train = users if held is None else max(users - 2 * held, 1)
    entries = round(rows * train / max(users, 1))
    pairs = SPREAD * entries**2 / max(train, 1)
    return DataSize(rows, users, items, train, entries, pairs, held or users, None, known)
