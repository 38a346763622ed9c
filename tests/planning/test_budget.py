"""What a budget of minutes allows: models, grids and ranks for the size of the data."""

import pytest

from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.models.catalogue import CATALOGUE, TORCH
from lindrop.planning.budget import FIRST, NOT_WORTH, SPARE, WORTH, chosen, told
from lindrop.planning.plan import needs_gram
from lindrop.planning.sizes import DataSize
from lindrop.ranking.grids import grid

ML_1M = DataSize(575_281, 6_034, 3_125, 5_034, 480_000, 1.2e8, 500)
LASTFM = DataSize(92_834, 1_877, 15_270, 1_477, 73_000, 7e6, 200)
MILLION = DataSize(20_000_000, 300_000, 1_000_000, 290_000, 19_000_000, 4e9, 5_000)
GB = 1e9


def config(**more):
    entry = {"source": {"format": "synthetic"}, "protocol": {"heldout_users": 10}}
    return checked({"datasets": {"mine": entry}, **more}, load_schema())


def choice(size, minutes, named=None, fixed=(), memory=16 * GB, **more):
    return chosen("mine", size, config(**more), minutes, 2, memory, named, fixed)


def test_every_model_pays_or_has_a_reason_why_it_does_not():
    assert {*WORTH, *NOT_WORTH} == {*CATALOGUE} - {*TORCH}


def test_enough_minutes_leave_everything_as_configured():
    found = choice(ML_1M, 60)
    assert {*found.ways} == {*WORTH}
    assert not any(way.words for way in found.ways.values())
    for model, way in found.ways.items():
        default = {key: option.default for key, option in CATALOGUE[model].options.items()}
        assert way.options == default


@pytest.mark.parametrize("size", [ML_1M, LASTFM])
@pytest.mark.parametrize("minutes", [2, 5, 15])
def test_the_choice_fits_into_the_budget_and_names_all_models(size, minutes):
    found = choice(size, minutes)
    assert found.minutes <= SPARE * minutes
    assert {*found.ways, *found.left_out} == {*WORTH, *NOT_WORTH}
    assert all(len(grid(way.options)) > 2 for name, way in found.ways.items() if way.options)
    text = told("mine", found, minutes, 2)
    assert all(name in text for name in found.left_out)


def test_more_minutes_never_drop_a_model():
    before = {*()}
    for minutes in (1, 2, 4, 8, 16, 32):
        now = {*choice(LASTFM, minutes).ways}
        assert before <= now
        before = now


def test_quick_models_come_first_and_those_that_wait_for_the_matrix_last():
    found = choice(LASTFM, 15)
    order = list(found.ways)
    assert {*order[:2]} == {*FIRST} & {*order}
    waits = [needs_gram(model, LASTFM) for model in order]
    assert waits == sorted(waits)
    assert not needs_gram("ease", LASTFM)  # users × users
    assert needs_gram("ease", ML_1M)
    stages = found.stages()
    assert {*stages[0]} == {*order[:2]}
    for fewer, more in zip(stages, [*stages[1:], order], strict=True):
        assert fewer == more[: len(fewer)]
        assert len(fewer) < len(more)


def test_named_models_are_all_taken_in_the_cheapest_way_at_least():
    found = choice(ML_1M, 0.1, named=["slim", "edlae"])
    assert {*found.ways} == {"slim", "edlae"}
    assert not found.left_out
    assert found.ways["edlae"].words
    assert "more than the budget" in told("mine", found, 0.1, 2)


def test_what_the_user_set_stays():
    own = {"models": {"edlae": {"lambda": [1, 2, 3, 4, 5, 6, 7, 8]}}, "rank": 300}
    found = choice(ML_1M, 1, named=["edlae"], fixed=["edlae", "rank"], **own)
    assert found.ways["edlae"].rank == 300
    assert len(grid(found.ways["edlae"].options)) == 32


def test_a_million_items_leave_the_models_without_a_matrix():
    found = choice(MILLION, 60)
    assert {*found.ways} <= {name for name in WORTH if not CATALOGUE[name].gram} | {
        "product_l2",
        "weight_decay",
    }
    assert {*FIRST} & {*WORTH} <= {*found.ways}
    assert "GB of memory" in found.left_out["ease"]
