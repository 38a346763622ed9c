"""Seeded synthetic implicit feedback (who took which item) at any scale.

The generator is a topic/session sampler; its work is proportional to the number of interactions.

* Items have a long-tailed (Zipf-Mandelbrot) popularity. They are partitioned into small *groups* of near-duplicates
  (a series and its sequels); the members of a group have a similar popularity and the same topics.
* A *topic* is a popularity-tilted distribution over items; every group belongs to a few topics, so topics overlap.
* A user has a long-tailed (log-normal) number of interactions and a sparse mixture of topics. The interactions come in
  *sessions*: an anchor item is drawn from one of the user's topics (or, as noise, from the popularity of all items),
  and each further item of the session is the next member of the anchor's group.

Topics are what a low-rank model can learn; the groups have about as many dimensions as there are groups, so a model of
lower rank has to miss a part of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lindrop.data.interactions import Interactions, RawCounts

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]

USERS_PER_BLOCK = (
    20_000  # part of the definition of the data: every block of users has its own random stream
)
TASTE_ROUNDS = 4  # rounds of draws by taste; a user still short of items after them is filled up by popularity-blind draws
_ITEM_BITS = 24
_ORDER_BITS = 24


@dataclass(frozen=True)
class Preset:
    """Sizes of one data set (after filtering) in the papers."""

    users: int
    items: int
    interactions: int
    min_per_user: int
    min_per_item: int


# The smallest numbers per item of ML-20M and Netflix are chosen so that every item occurs among the training users.
PRESETS: dict[str, Preset] = {
    "demo": Preset(50_000, 1_000, 2_500_000, 5, 20),
    "ml-20m": Preset(136_677, 20_108, 9_990_682, 5, 10),
    "netflix": Preset(463_435, 17_769, 56_880_000, 5, 10),
    "msd": Preset(571_355, 41_140, 33_633_450, 20, 200),
}


@dataclass(frozen=True)
class _Catalogue:
    """The items as the sampler sees them: positions 0..m-1, the members of a group next to each other.

    group_first, group_size: per position, the first position and the size of its group.
    entry_cdf, entry_position: running sum of the popularity of all (topic, item) entries sorted by topic, and the item of each.
    topic_end: per topic, the value of entry_cdf after its last entry.
    item_cdf: running sum of the popularity of the positions.
    """

    group_first: Ints
    group_size: Ints
    entry_cdf: Floats
    entry_position: Ints
    topic_end: Floats
    item_cdf: Floats
    length_factor: Floats


def _popularity(items: int, exponent: float, shift: float, floor: float) -> Floats:
    """Zipf-Mandelbrot popularity by rank, summing to one, none below `floor`."""
    weight = (np.arange(items) + 1.0 + shift * items) ** -exponent
    weight = np.maximum(weight / weight.sum(), floor)
    return weight / weight.sum()


def _catalogue(
    rng: np.random.Generator,
    items: int,
    popularity: Floats,
    topics: int,
    topics_per_group: int,
    topic_decay: float,
    group_size: float,
    group_spread: float,
    stickiness: float,
    stickiness_spread: float,
) -> _Catalogue:
    # Group sizes floor(group_size) or one more, cut to the number of items.
    small = int(group_size)
    sizes = small + (rng.random(items // small + 1) < group_size - small)
    ends = np.minimum(np.cumsum(sizes), items)
    ends = ends[: np.searchsorted(ends, items) + 1]
    first = np.concatenate(([0], ends[:-1]))
    sizes = np.diff(np.concatenate((first, [items])))
    groups = len(sizes)
    group_of = np.repeat(np.arange(groups), sizes)
    # Every group has a level, every member its own deviation: the ranks by their sum give the popularity.
    level = rng.standard_normal(groups)[group_of] + group_spread * rng.standard_normal(items)
    weight = np.empty(items)
    weight[np.argsort(-level)] = popularity
    # Every group in `topics_per_group` topics (repeats allowed), with weights 1, topic_decay, topic_decay^2, ...
    topic = rng.integers(0, topics, (groups, topics_per_group))
    topic[: min(topics, groups), 0] = np.arange(min(topics, groups))  # no empty topic
    stick = stickiness * (1.0 + stickiness_spread * rng.uniform(-1.0, 1.0, groups))
    share = topic_decay ** np.arange(topics_per_group)
    share /= share.sum()
    entry_topic = topic[group_of].ravel()
    entry_weight = (weight[:, None] * share).ravel()
    entry_position = np.repeat(np.arange(items), topics_per_group)
    order = np.argsort(entry_topic, kind="stable")
    cdf = np.cumsum(entry_weight[order])
    cdf /= cdf[-1]
    last = np.searchsorted(entry_topic[order], np.arange(topics), side="right") - 1
    item_cdf = np.cumsum(weight)
    return _Catalogue(
        group_first=np.repeat(first, sizes),
        group_size=np.repeat(sizes, sizes),
        entry_cdf=cdf,
        entry_position=entry_position[order],
        topic_end=cdf[last],
        item_cdf=item_cdf / item_cdf[-1],
        length_factor=1.0 / np.log(np.clip(stick, 1e-9, 0.95))[group_of],
    )


def _activity(
    rng: np.random.Generator,
    users: int,
    interactions: int,
    smallest: int,
    largest: int,
    sigma: float,
) -> Ints:
    """Log-normal numbers of interactions in smallest..largest that sum exactly to `interactions`."""
    raw = np.exp(sigma * rng.standard_normal(users))

    def counts(scale: float) -> Ints:
        return np.minimum(
            smallest + np.floor(np.minimum(scale * raw, largest)).astype(np.int64), largest
        )

    low, high = 0.0, 1.0
    while counts(high).sum() < interactions:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if counts(middle).sum() <= interactions else (low, middle)
    result = counts(low)
    while (missing := interactions - int(result.sum())) > 0:
        room = np.flatnonzero(result < largest)
        result[rng.permutation(room)[:missing]] += 1
    return result


def _search(cdf: Floats, value: Floats) -> Ints:
    return np.minimum(np.searchsorted(cdf, value, side="right"), len(cdf) - 1)


def _draw(
    rng: np.random.Generator,
    owner: Ints,
    catalogue: _Catalogue,
    user_topic: Ints,
    topic_cdf: Floats,
    noise: float,
) -> tuple[Ints, Ints]:
    """Users and positions of the draws of one session per row of `owner` (users of the block, ascending)."""
    # topic_cdf holds, flat, user + running sum of the user's topic weights.
    topic = user_topic[_search(topic_cdf, owner + rng.random(len(owner)))]
    upper = catalogue.topic_end[topic]
    lower = np.where(topic > 0, catalogue.topic_end[topic - 1], 0.0)
    u = rng.random(len(owner))
    anchor = catalogue.entry_position[_search(catalogue.entry_cdf, lower + u * (upper - lower))]
    random = np.flatnonzero(rng.random(len(owner)) < noise)
    anchor[random] = _search(catalogue.item_cdf, u[random])
    # A geometric number of items, going round the anchor's group.
    size = catalogue.group_size[anchor]
    length = 1.0 + np.floor(np.log1p(-rng.random(len(owner))) * catalogue.length_factor[anchor])
    length = np.minimum(length, size).astype(np.int64)
    step = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    first = catalogue.group_first[anchor]
    position = np.repeat(first, length) + (np.repeat(anchor - first, length) + step) % np.repeat(
        size, length
    )
    return np.repeat(owner, length), position


def _distinct(owner: Ints, position: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The first `wanted[user]` distinct positions of every user, in the order given (owner ascending)."""
    order = np.arange(len(owner)) - np.searchsorted(owner, owner, side="left")
    key = np.sort((((owner << _ITEM_BITS) | position) << _ORDER_BITS) | order)
    new = np.empty(len(key), dtype=bool)
    new[0] = True
    new[1:] = (key[1:] >> _ORDER_BITS) != (key[:-1] >> _ORDER_BITS)
    key = key[new]
    order = key & ((1 << _ORDER_BITS) - 1)
    position = (key >> _ORDER_BITS) & ((1 << _ITEM_BITS) - 1)
    owner = key >> (_ITEM_BITS + _ORDER_BITS)
    key = np.sort((((owner << _ORDER_BITS) | order) << _ITEM_BITS) | position)
    position = key & ((1 << _ITEM_BITS) - 1)
    owner = key >> (_ITEM_BITS + _ORDER_BITS)
    held = np.bincount(owner, minlength=len(wanted))
    rank = np.arange(len(owner)) - np.repeat(np.cumsum(held) - held, held)
    keep = rank < wanted[owner]
    return owner[keep], position[keep]


def _block(
    rng: np.random.Generator,
    wanted: Ints,
    items: int,
    catalogue: _Catalogue,
    topics_per_user: int,
    concentration: float,
    noise: float,
) -> Ints:
    """Positions of the users of a block (wanted[u] distinct ones of user u, users ascending, random order)."""
    users = len(wanted)
    topic_mass_cdf = catalogue.topic_end
    user_topic = _search(topic_mass_cdf, rng.random(users * topics_per_user))
    weight = rng.standard_gamma(concentration, (users, topics_per_user)) + 1e-12
    weight = np.cumsum(weight, axis=1)
    weight /= weight[:, -1:]
    topic_cdf = (np.arange(users)[:, None] + weight).ravel()

    owner = np.empty(0, dtype=np.int64)
    position = np.empty(0, dtype=np.int64)
    missing = wanted.copy()
    turn = 0
    done: list[Ints] = []  # packed (user, position) of finished users
    while True:
        draws = np.where(missing > 0, missing + 8, 0)
        new_owner = np.repeat(np.arange(users), draws)
        if turn < TASTE_ROUNDS:
            new_owner, new = _draw(rng, new_owner, catalogue, user_topic, topic_cdf, noise)
        else:
            new = rng.integers(0, items, len(new_owner))
        both = np.concatenate((owner, new_owner))
        by_user = np.argsort(both, kind="stable")
        owner, position = _distinct(both[by_user], np.concatenate((position, new))[by_user], wanted)
        missing = wanted - np.bincount(owner, minlength=users)
        # Users with enough items leave the loop.
        missing[wanted == 0] = 0
        finished = missing[owner] == 0
        done.append((owner[finished] << _ITEM_BITS) | position[finished])
        owner, position = owner[~finished], position[~finished]
        wanted = np.where(missing > 0, wanted, 0)
        if not len(owner):
            break
        turn += 1
    packed = np.concatenate(done)
    shuffle = rng.integers(0, 1 << _ORDER_BITS, len(packed))
    who = packed >> _ITEM_BITS
    what = packed & ((1 << _ITEM_BITS) - 1)
    key = np.sort((((who << _ORDER_BITS) | shuffle) << _ITEM_BITS) | what)
    return key & ((1 << _ITEM_BITS) - 1)


def _repair_items(
    rng: np.random.Generator, user: Codes, item: Codes, items: int, smallest: int
) -> None:
    """Give every item at least `smallest` users, in place, by handing it rows of items that have more than enough."""
    count = np.bincount(item, minlength=items)
    while (short := np.maximum(smallest - count, 0)).any():
        rare = np.flatnonzero(short)
        number = np.full(items, -1, dtype=np.int64)
        number[rare] = np.arange(len(rare))
        held = np.flatnonzero(number[item] >= 0)
        taken = user[held].astype(np.int64) * len(rare) + number[item[held]]
        target = np.repeat(rare, short[rare])
        row = rng.integers(0, len(item), len(target))
        key = user[row].astype(np.int64) * len(rare) + number[target]
        good = ~np.isin(key, taken)
        good &= _first_of_each(key) & _first_of_each(row)
        row, target = row[good], target[good]
        # A donor keeps at least `smallest` users: its k-th row is given only if count - k >= smallest.
        donor = item[row].astype(np.int64)
        by_donor = np.argsort(donor, kind="stable")
        sorted_donor = donor[by_donor]
        rank = np.arange(len(donor)) - np.searchsorted(sorted_donor, sorted_donor, side="left")
        give = by_donor[rank < np.maximum(count[sorted_donor] - smallest, 0)]
        item[row[give]] = target[give]
        count = np.bincount(item, minlength=items)


def _first_of_each(values: Ints) -> NDArray[np.bool_]:
    first = np.zeros(len(values), dtype=bool)
    first[np.unique(values, return_index=True)[1]] = True
    return first


def generate(
    seed: int,
    users: int,
    items: int,
    interactions: int,
    *,
    min_per_user: int = 5,
    min_per_item: int = 5,
    popularity_exponent: float = 1.0,
    popularity_shift: float = 0.02,
    activity_sigma: float = 0.9,
    topics: int | None = None,
    topics_per_group: int = 2,
    topic_decay: float = 0.5,
    topics_per_user: int = 5,
    concentration: float = 0.5,
    group_size: float = 3.5,
    group_spread: float = 0.3,
    stickiness: float = 0.45,
    stickiness_spread: float = 1.0,
    noise: float = 0.2,
) -> tuple[Codes, Codes]:
    if topics is None:
        topics = max(2, round(1.5 * items**0.5))
    largest = max(min_per_user, items // 3)
    root = np.random.SeedSequence(seed)
    blocks = -(-users // USERS_PER_BLOCK)
    streams = [np.random.default_rng(s) for s in root.spawn(3)]
    block_seeds = np.random.SeedSequence(entropy=root.entropy, spawn_key=(3,)).spawn(blocks)

    popularity = _popularity(
        items, popularity_exponent, popularity_shift, 1.5 * min_per_item / interactions
    )
    catalogue = _catalogue(
        streams[0],
        items,
        popularity,
        topics,
        topics_per_group,
        topic_decay,
        group_size,
        group_spread,
        stickiness,
        stickiness_spread,
    )
    item_id = streams[0].permutation(items).astype(np.int32)
    wanted = _activity(streams[1], users, interactions, min_per_user, largest, activity_sigma)
    user_codes = np.repeat(np.arange(users, dtype=np.int32), wanted)
    item_codes = np.empty(len(user_codes), dtype=np.int32)
    end = 0
    for block, block_seed in enumerate(block_seeds):
        part = wanted[block * USERS_PER_BLOCK : (block + 1) * USERS_PER_BLOCK]
        position = _block(
            np.random.default_rng(block_seed),
            part,
            items,
            catalogue,
            topics_per_user,
            concentration,
            noise,
        )
        item_codes[end : end + len(position)] = item_id[position]
        end += len(position)
    _repair_items(streams[2], user_codes, item_codes, items, min_per_item)
    return user_codes, item_codes


def interactions(preset: str, seed: int, **sizes) -> Interactions:
    size = replace(PRESETS[preset], **{k: v for k, v in sizes.items() if v is not None})
    user, item = generate(seed, **asdict(size))
    ids = [np.arange(n).astype(str).astype(object) for n in (size.users, size.items)]
    return Interactions(user, item, *ids, None, RawCounts(len(user), size.users, size.items))
