"""Generate synthetic interactions from a recipe and a seed."""

import numpy as np

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress
from lindrop.data.interactions import Codes, Ids, Interactions, RawCounts
from lindrop.data.synthetic.arrays import ITEM_BITS, Ints, is_first, rank_in_run
from lindrop.data.synthetic.catalogue import draw_catalogue
from lindrop.data.synthetic.recipe import Recipe
from lindrop.data.synthetic.sessions import draw_block

# Each block of users has its own random stream, so another block size changes every dataset.
USERS_PER_BLOCK = 20_000
REPAIR_ROUNDS = 1_000


def synthetic_interactions(recipe: Recipe, seed: int) -> Interactions:
    """Interactions of a recipe and a seed; raw ids are the codes as text."""
    user, item = generate(recipe, seed)
    raw = RawCounts(recipe.interactions, recipe.users, recipe.items)
    return Interactions(user, item, _numbered(recipe.users), _numbered(recipe.items), None, raw)


def _numbered(count: int) -> Ids:
    """Raw ids '0', '1', … as an array of strings."""
    return np.array([str(number) for number in range(count)], dtype=object)


def generate(recipe: Recipe, seed: int) -> tuple[Codes, Codes]:
    """User and item codes of exactly `recipe.interactions` distinct pairs.

    Rows are sorted by user, in random order within a user; item codes are unrelated to popularity.
    The result depends on the arguments only, not on the number of threads.
    """
    if problem := recipe.problem():
        raise UserError(f"synthetic data: {problem}")
    blocks = -(-recipe.users // USERS_PER_BLOCK)
    catalogue_rng, activity_rng, repair_rng, *block_rngs = (
        np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(3 + blocks)
    )
    catalogue = draw_catalogue(catalogue_rng, recipe)
    item_of_position = catalogue_rng.permutation(recipe.items).astype(np.int32)
    wanted = draw_activity(activity_rng, recipe)
    user = np.repeat(np.arange(recipe.users, dtype=np.int32), wanted)
    item = np.empty(recipe.interactions, dtype=np.int32)
    progress = Progress("generating", recipe.interactions, unit="rows")
    end = 0
    for block, rng in enumerate(block_rngs):
        part = wanted[block * USERS_PER_BLOCK : (block + 1) * USERS_PER_BLOCK]
        position = draw_block(rng, part, catalogue, recipe)
        item[end : end + len(position)] = item_of_position[position]
        end += len(position)
        progress.advance(len(position))
    _give_every_item_its_users(repair_rng, user, item, recipe)
    return user, item


def draw_activity(rng: np.random.Generator, recipe: Recipe) -> Ints:
    """Number of interactions of each user: log-normal, within the recipe's bounds and total."""
    smallest, largest = recipe.min_per_user, recipe.max_per_user
    raw = np.exp(recipe.activity_sigma * rng.standard_normal(recipe.users))

    def counts(scale: float) -> Ints:
        above = np.minimum(scale * raw, largest - smallest).astype(np.int64)
        return smallest + above

    low, high = 0.0, 1.0
    while counts(high).sum() < recipe.interactions:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        fits = counts(middle).sum() <= recipe.interactions
        low, high = (middle, high) if fits else (low, middle)
    result = counts(low)
    while (missing := recipe.interactions - int(result.sum())) > 0:
        result[rng.permutation(np.flatnonzero(result < largest))[:missing]] += 1
    return result


def _give_every_item_its_users(
    rng: np.random.Generator, user: Codes, item: Codes, recipe: Recipe
) -> None:
    """Give each item at least `min_per_item` users by changing entries of `item` in place.

    Only rows of items that have more users than the minimum are changed.
    """
    smallest = recipe.min_per_item
    for _ in range(REPAIR_ROUNDS):
        count = np.bincount(item, minlength=recipe.items)
        short = np.maximum(smallest - count, 0)
        if not short.any():
            return
        target = np.repeat(np.arange(recipe.items), short)
        row = rng.choice(np.flatnonzero((count > smallest)[item]), len(target))
        of_short = np.flatnonzero((short > 0)[item])
        taken = user[of_short].astype(np.int64) << ITEM_BITS | item[of_short]
        pair = user[row].astype(np.int64) << ITEM_BITS | target
        good = is_first(pair) & is_first(row) & ~np.isin(pair, taken)
        row, target = row[good], target[good]
        # No item may give away more rows than it has above the minimum.
        by_donor = np.argsort(item[row], kind="stable")
        donor = item[row[by_donor]]
        give = by_donor[rank_in_run(donor) < count[donor] - smallest]
        item[row[give]] = target[give]
    raise UserError(
        f"synthetic data: could not give {smallest} users to every item; ask for more interactions"
    )
