"""Draw the items of a block of users, session by session."""

import numpy as np

from lindrop.data.synthetic.arrays import (
    ITEM_BITS,
    ORDER_BITS,
    Floats,
    Ints,
    find,
    first_distinct,
    mask,
    rank_in_run,
    sorted_by_user_and,
)
from lindrop.data.synthetic.catalogue import Catalogue
from lindrop.data.synthetic.recipe import Recipe

# Rounds of sessions; users who still lack items after them get uniformly random ones.
TASTE_ROUNDS = 4
SPARE_SESSIONS = 8


def draw_block(
    rng: np.random.Generator, wanted: Ints, catalogue: Catalogue, recipe: Recipe
) -> Ints:
    """Draw `wanted[u]` distinct items for each user u, as positions in the catalogue.

    They are sorted by user, and in random order within a user.
    """
    users = len(wanted)
    tastes = _draw_tastes(rng, users, catalogue, recipe)
    owner = np.empty(0, dtype=np.int64)  # user of each item drawn so far, for users who lack items
    position = np.empty(0, dtype=np.int64)
    finished: list[Ints] = []
    missing, turn = wanted, 0
    while missing.any():
        held = np.bincount(owner, minlength=users)
        draws = np.where(missing > 0, missing + SPARE_SESSIONS, 0)
        new_owner = np.repeat(np.arange(users), draws)
        if turn < TASTE_ROUNDS:
            new_owner, new_position = _sessions(rng, new_owner, catalogue, tastes, recipe.noise)
        else:
            new_position = rng.integers(0, recipe.items, len(new_owner))
        order = np.concatenate((rank_in_run(owner), held[new_owner] + rank_in_run(new_owner)))
        owner, position = first_distinct(
            np.concatenate((owner, new_owner)),
            np.concatenate((position, new_position)),
            order,
            wanted,
        )
        missing = np.where(missing > 0, wanted - np.bincount(owner, minlength=users), 0)
        complete = missing[owner] == 0
        finished.append(owner[complete] << ITEM_BITS | position[complete])
        owner, position = owner[~complete], position[~complete]
        turn += 1
    pairs = np.concatenate(finished)
    shuffled = rng.integers(0, 1 << ORDER_BITS, len(pairs))
    return sorted_by_user_and(shuffled, pairs >> ITEM_BITS, pairs & mask(ITEM_BITS))[1]


def _draw_tastes(
    rng: np.random.Generator, users: int, catalogue: Catalogue, recipe: Recipe
) -> tuple[Ints, Floats]:
    """Topics of all users as one array, and an array by which to draw one of a user's topics.

    The second array holds user + cumulative weight of the user's topics, so that a binary search
    for `user + u`, u uniform in 0 … 1, draws a topic of that user.
    """
    topic = find(catalogue.topic_end, rng.random(users * recipe.topics_per_user))
    weight = rng.standard_gamma(recipe.concentration, (users, recipe.topics_per_user)) + 1e-12
    share = np.cumsum(weight, axis=1)
    return topic, (np.arange(users)[:, None] + share / share[:, -1:]).ravel()


def _sessions(
    rng: np.random.Generator,
    owner: Ints,
    catalogue: Catalogue,
    tastes: tuple[Ints, Floats],
    noise: float,
) -> tuple[Ints, Ints]:
    """One session for each entry of `owner` (users, ascending): user and position of every item."""
    user_topic, user_cdf = tastes
    topic = user_topic[find(user_cdf, owner + rng.random(len(owner)))]
    upper = catalogue.topic_end[topic]
    lower = np.where(topic > 0, catalogue.topic_end[topic - 1], 0.0)
    u = rng.random(len(owner))
    anchor = catalogue.entry_position[find(catalogue.entry_cdf, lower + u * (upper - lower))]
    is_noise = np.flatnonzero(rng.random(len(owner)) < noise)
    anchor[is_noise] = find(catalogue.item_cdf, u[is_noise])
    # A session takes a geometric number of items, at most the group, cyclically from the anchor.
    further = np.floor(np.log1p(-rng.random(len(owner))) * catalogue.length_scale[anchor])
    length = np.minimum(1 + further, catalogue.group_size[anchor]).astype(np.int64)
    step = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    anchor = np.repeat(anchor, length)
    first = catalogue.group_first[anchor]
    around = (anchor - first + step) % catalogue.group_size[anchor]
    return np.repeat(owner, length), first + around
