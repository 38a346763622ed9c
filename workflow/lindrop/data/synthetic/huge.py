"""Generate sets of up to some billions of interactions, straight to a folder of parquet files.

Items are divided into topics of at most 5,000. Within a topic, popularity falls as 1 / rank
(Zipf's law). A user has one topic and a long-tailed (log-normal) number of interactions; three
quarters of them are drawn within the topic, the others from the topics of all users. The items of a
user are distinct. There are no groups of near-duplicates as in `generator`, whose sort keys cannot
hold as many users and items.

Every user has a random stream of their own, which follows from the seed and the user's number, so
that the files do not depend on the number of threads. Memory is bounded by some bytes per user and
per item; interactions are written as soon as they are drawn.
"""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError
from lindrop.base.parallel import map_blocks
from lindrop.base.reporting import Progress
from lindrop.data.synthetic.arrays import Floats, Ints
from lindrop.data.synthetic.generator import draw_activity
from lindrop.data.synthetic.recipe import Recipe
from lindrop.linalg.kernels import Array, compiled

TOPIC_ITEMS = 5_000
ALL_ITEMS = 0.25  # share of the picks that are drawn from all topics
FILE_ROWS = 8_000_000
GROUP_ROWS = 1_000_000  # of a row group; a thread holds one
MOST = 1 << 31  # users and items are int32
PICKS = 50  # per wanted item, after which a user takes the next free ones
SCHEMA = pa.schema([("user", pa.int32()), ("item", pa.int32())])


def write_folder(
    folder: str | Path, users: int, items: int, interactions: int, seed: int = 1
) -> list[Path]:
    """Write exactly as many distinct pairs (user, item) to parquet files in a new folder.

    Rows are sorted by user; the items of a user are in the order in which they were drawn. Users
    are numbered from 0 to users - 1. An item's number tells neither its topic nor its popularity.
    """
    folder, recipe = Path(folder), Recipe(users, items, interactions, min_per_item=0)
    most = users * recipe.max_per_user
    if max(users, items) >= MOST or not users * recipe.min_per_user <= interactions <= most:
        raise UserError(
            f"{users:,} users × {items:,} items can have {users * recipe.min_per_user:,} to "
            f"{most:,} interactions, not {interactions:,}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UserError(f"{folder}: not empty; name a new folder")
    activity, names, base = (
        np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(3)
    )
    wanted = draw_activity(activity, recipe).astype(np.int32)
    ends = np.cumsum(wanted, dtype=np.int64)
    item_of = names.permutation(np.arange(items, dtype=np.int32))
    topics = -(-items // TOPIC_ITEMS)
    starts = np.arange(topics + 1, dtype=np.int64) * items // topics
    zipf = alias_table(1.0 / np.arange(1, int(np.diff(starts).max()) + 1))
    stream = base.integers(0, 1 << 64, dtype=np.uint64)
    cuts = _cuts(ends, 0, users, FILE_ROWS)
    progress = Progress("generating", interactions, unit="rows")
    paths = [folder / f"part-{number:05}.parquet" for number in range(len(cuts) - 1)]

    def write(number: int, _: int) -> int:
        first, last = cuts[number], cuts[number + 1]
        with atomic(paths[number]) as partial, _writer(partial) as file:
            groups = _cuts(ends, first, last, GROUP_ROWS)
            for start, stop in itertools.pairwise(groups):
                chosen = np.empty(int(wanted[start:stop].sum()), np.int32)
                draw_users(stream, start, wanted[start:stop], starts, *zipf, item_of, chosen)
                user = np.repeat(np.arange(start, stop, dtype=np.int32), wanted[start:stop])
                table = pa.table({"user": user, "item": chosen}, SCHEMA)
                file.write_table(table, row_group_size=len(chosen))
        return int(ends[last - 1] - (ends[first - 1] if first else 0))

    for rows in map_blocks(write, len(paths), 1):
        progress.advance(rows)
    return paths


def _writer(path: Path) -> pa.parquet.ParquetWriter:
    """Writer of a file in which sorted users take almost no space."""
    encodings = {"user": "DELTA_BINARY_PACKED", "item": "PLAIN"}
    options = {"use_dictionary": False, "column_encoding": encodings, "compression": "NONE"}
    return pa.parquet.ParquetWriter(path, SCHEMA, **options)


def _cuts(ends: Ints, first: int, last: int, rows: int) -> list[int]:
    """Users at which the range from `first` to `last` is cut into parts of about `rows` rows."""
    before = int(ends[first - 1]) if first else 0
    marks = np.arange(before + rows, int(ends[last - 1]), rows)
    inner = np.searchsorted(ends[first:last], marks, side="left") + 1 + first
    return [first, *(int(cut) for cut in np.unique(inner) if first < cut < last), last]


def alias_table(weights: Floats) -> tuple[Array, Array]:
    """Table from which an index is drawn in proportion to the weights (Walker's alias method).

    An index k drawn uniformly is kept with probability chance[k] / 2³², else other[k] is taken.
    """
    n = len(weights)
    share = weights * (n / weights.sum())
    chance, other = np.ones(n), np.arange(n, dtype=np.int32)
    small = [k for k in range(n) if share[k] < 1]
    large = [k for k in range(n) if share[k] >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        chance[low], other[low] = share[low], high
        share[high] -= 1 - share[low]
        if share[high] < 1:
            small.append(large.pop())
    return np.minimum(chance * 2**32, 2**32 - 1).astype(np.uint64), other


@compiled
def draw_users(
    stream: np.uint64,
    first: int,
    wanted: Array,
    starts: Array,
    chance: Array,
    other: Array,
    item_of: Array,
    out: Array,
) -> None:
    """Write the distinct items of users first, first + 1, … one after the other to `out`.

    Topic t has the positions starts[t] to starts[t + 1] - 1, in falling popularity; `item_of` holds
    the item at each position. A set of a user's positions, with open addressing, finds repeats.
    """
    largest = 1
    for count in wanted:
        largest = max(largest, count)
    slots = 4
    while slots < 2 * largest:
        slots *= 2
    table = np.full(slots, -1, np.int32)
    topics, ranks, items = np.uint64(len(starts) - 1), np.uint64(len(chance)), len(item_of)
    everywhere = np.uint64(ALL_ITEMS * 2**32)
    step, half, low = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(0xFFFFFFFF)
    end = 0
    for user in range(len(wanted)):
        state = _mixed(stream + np.uint64(first + user) * step)
        size = 4
        while size < 2 * wanted[user]:
            size *= 2
        table[:size] = -1
        mask = size - 1
        state += step
        own = ((_mixed(state) >> half) * topics) >> half
        taken, picks, position = 0, 0, 0
        while taken < wanted[user]:
            picks += 1
            if picks <= PICKS * wanted[user]:
                state += step
                word = _mixed(state)
                topic = own
                if word & low < everywhere:
                    state += step
                    topic = ((_mixed(state) >> half) * topics) >> half
                rank = ((word >> half) * ranks) >> half
                state += step
                if (_mixed(state) >> half) >= chance[rank]:
                    rank = np.uint64(other[rank])
                position = starts[topic] + np.int64(rank)
                if position >= starts[topic + np.uint64(1)]:  # a topic with one item less
                    continue
            else:
                position = (position + 1) % items
            slot = np.int64((np.uint64(position) * step) >> half) & mask
            while table[slot] >= 0 and table[slot] != position:
                slot = (slot + 1) & mask
            if table[slot] < 0:
                table[slot] = position
                out[end] = item_of[position]
                end += 1
                taken += 1


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    """The random number of a state of SplitMix64 (Steele, Lea & Flood 2014)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
