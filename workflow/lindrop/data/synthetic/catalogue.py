"""Catalogue of the synthetic data: items with their popularity, groups and topics."""

from dataclasses import dataclass

import numpy as np

from lindrop.data.synthetic.arrays import Floats, Ints, running_share
from lindrop.data.synthetic.recipe import Recipe

# Expected number of users of the least popular item, as a multiple of min_per_item.
POPULARITY_FLOOR = 1.25


@dataclass(frozen=True)
class Catalogue:
    """Items at positions 0 … items - 1, where members of a group are adjacent.

    An entry is a pair (topic, item); entries are sorted by topic.
    """

    group_first: Ints  # per position: the first position of its group
    group_size: Ints  # per position: the size of its group
    length_scale: Floats  # per position: 1 / log(probability that one more item follows)
    item_cdf: Floats  # cumulative popularity over positions
    entry_cdf: Floats  # cumulative popularity over entries
    entry_position: Ints  # per entry: the position of its item
    topic_end: Floats  # per topic: entry_cdf at its last entry


def draw_catalogue(rng: np.random.Generator, recipe: Recipe) -> Catalogue:
    """Draw the groups, their topics and the popularity of their items."""
    first, size = _groups(rng, recipe.items, recipe.group_size)
    groups = len(size)
    group = np.repeat(np.arange(groups), size)

    # Popularity follows the order of the sums of a group's level and a member's deviation from it.
    level = rng.standard_normal(groups)[group]
    level += recipe.group_spread * rng.standard_normal(recipe.items)
    weight = np.empty(recipe.items)
    weight[np.argsort(-level)] = _popularity(recipe)

    topics = recipe.topics or max(1, round(1.5 * recipe.items**0.5))
    topics = min(topics, groups)
    topic = rng.integers(0, topics, (groups, recipe.topics_per_group))
    topic[:topics, 0] = np.arange(topics)  # so that no topic is empty
    share = recipe.topic_decay ** np.arange(recipe.topics_per_group)
    entry_topic = topic[group].ravel()
    by_topic = np.argsort(entry_topic, kind="stable")
    entry_cdf = running_share((weight[:, None] * share).ravel()[by_topic])
    last = np.searchsorted(entry_topic[by_topic], np.arange(topics), side="right") - 1
    follow = np.clip(2.0 * recipe.stickiness * rng.random(groups), 1e-12, 0.95)
    return Catalogue(
        group_first=first[group],
        group_size=size[group],
        length_scale=1.0 / np.log(follow)[group],
        item_cdf=running_share(weight),
        entry_cdf=entry_cdf,
        entry_position=by_topic // recipe.topics_per_group,
        topic_end=entry_cdf[last],
    )


def _groups(rng: np.random.Generator, items: int, mean: float) -> tuple[Ints, Ints]:
    """First position and size of every group; sizes are the two integers next to the mean."""
    small = int(mean)
    end = np.cumsum(small + (rng.random(items // small + 1) < mean - small))
    end = np.minimum(end, items)[: np.searchsorted(end, items) + 1]
    first = np.concatenate(([0], end[:-1]))
    return first, end - first


def _popularity(recipe: Recipe) -> Floats:
    """Share of interactions of each popularity rank: a uniform floor plus a Zipf-Mandelbrot law.

    The floor takes at most half of all interactions.
    """
    ranks = np.arange(1, recipe.items + 1)
    weight = (ranks + recipe.popularity_shift) ** -recipe.popularity_exponent
    floor = POPULARITY_FLOOR * recipe.min_per_item / recipe.interactions
    floor = min(floor, 0.5 / recipe.items)
    share: Floats = floor + (1.0 - recipe.items * floor) * weight / weight.sum()
    return share
