"""Synthetic feedback has exactly the sizes of its recipe, and the shape that the docs claim."""

from dataclasses import replace

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import generate, synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS, Recipe

RECIPES = {
    "demo": PRESETS["demo"],
    "small": Recipe(400, 60, 6_000),
    "more than one block of users": Recipe(45_000, 300, 500_000, min_per_item=200),
    "as few as possible": Recipe(500, 100, 2_500),
    "as many as possible": Recipe(300, 90, 300 * 30, min_per_item=1),
    "a third of ml-20m": replace(PRESETS["ml-20m"], users=45_000, interactions=3_000_000),
}


@pytest.fixture(scope="module", params=RECIPES)
def made(request):
    recipe = RECIPES[request.param]
    return recipe, *generate(recipe, seed=1)


def test_sizes_are_exact_and_no_pair_occurs_twice(made):
    recipe, user, item = made
    assert user.dtype == item.dtype == np.int32
    assert len(user) == len(item) == recipe.interactions
    pairs = user.astype(np.int64) * recipe.items + item
    assert len(np.unique(pairs)) == recipe.interactions
    per_user = np.bincount(user, minlength=recipe.users)
    per_item = np.bincount(item, minlength=recipe.items)
    assert len(per_user) == recipe.users
    assert len(per_item) == recipe.items
    assert recipe.min_per_user <= per_user.min() <= per_user.max() <= recipe.max_per_user
    assert per_item.min() >= recipe.min_per_item
    assert np.all(np.diff(user) >= 0)


def test_the_seed_decides_everything():
    recipe = RECIPES["small"]
    for one, same in zip(generate(recipe, 1), generate(recipe, 1), strict=True):
        np.testing.assert_array_equal(one, same)
    assert not np.array_equal(generate(recipe, 1)[1], generate(recipe, 2)[1])


def test_blocks_of_users_have_random_streams_of_their_own():
    """Two blocks with the same wishes do not take the same items."""
    recipe = replace(RECIPES["small"], users=40_000, interactions=40_000 * 20)  # most per user
    _, item = generate(recipe, 1)
    first, second = np.split(item, 2)
    assert not np.array_equal(first, second)
    shares = [np.bincount(half, minlength=60) / len(half) for half in (first, second)]
    np.testing.assert_allclose(*shares, atol=0.002)  # both blocks choose items equally often


def test_item_numbers_say_nothing_about_popularity():
    count = np.bincount(generate(PRESETS["demo"], 1)[1])
    assert abs(np.corrcoef(np.arange(len(count)), count)[0, 1]) < 0.1


def test_popularity_and_activity_have_long_tails():
    user, item = generate(PRESETS["demo"], 1)
    for count in (np.bincount(user), np.bincount(item)):
        falling = np.sort(count)[::-1]
        top = falling[: len(falling) // 5].sum() / falling.sum()
        assert top > 0.4  # the upper fifth has twice its share and more
        assert falling[0] > 5 * np.median(falling)


def test_near_duplicates_occur_together():
    """Some items are taken with a partner far more often than their popularity explains."""
    import scipy.sparse as sp

    recipe = PRESETS["demo"]
    user, item = generate(recipe, 1)
    X = sp.coo_array((np.ones(len(user), np.float32), (user, item))).tocsr()
    G = (X.T @ X).toarray()
    expected = np.outer(G.diagonal(), G.diagonal()) / recipe.users
    lift = G / expected
    np.fill_diagonal(lift, 0)
    best = np.sort(lift.max(axis=1))
    assert np.median(best) > 2
    assert best[-recipe.items // 10] > 4


@pytest.mark.parametrize("name", ["ml-20m", "netflix", "msd"])
def test_presets_have_the_counts_of_the_published_sets(name):
    published = {
        "ml-20m": (136_677, 20_108, 9_990_682),
        "netflix": (463_435, 17_769, 56_880_000),
        "msd": (571_355, 41_140, 33_633_450),
    }
    recipe = PRESETS[name]
    assert (recipe.users, recipe.items, recipe.interactions) == published[name]
    assert recipe.problem() is None


def test_the_published_protocol_keeps_a_preset_whole():
    """ML-20M's filters drop nothing, and every item occurs among the training users."""
    recipe = PRESETS["ml-20m"]
    result = split(synthetic_interactions(recipe, 1), Protocol(10_000, None, 5))
    counts = result.counts
    assert (counts.users, counts.items, counts.interactions) == (136_677, 20_108, 9_990_682)
    assert counts.users_dropped == counts.items_dropped == counts.duplicate_rows == 0


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Recipe(100, 1_000, 3_000_000), r"can have 5,000 to 33,300 interactions, not 3,000,000"),
        (Recipe(100, 30, 400), r"can have 500 to 1,000 interactions, not 400"),
        (Recipe(4, 30, 40), r"too few for 5 items a user and 5 users an item"),
    ],
)
def test_sizes_that_no_dataset_can_have(recipe, message):
    with pytest.raises(UserError, match=message):
        generate(recipe, 1)
