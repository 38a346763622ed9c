"""The figure's data are the counts of the split, most first, none of them zero."""

import numpy as np

from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import Recipe
from lindrop.output.long_tails import curves


def test_curves_fall_and_hold_the_extremes():
    result = split(synthetic_interactions(Recipe(400, 60, 6_000), 1), Protocol(50))
    data = curves("small", result)
    assert set(data["dataset"]) == {"small"}
    parts = result.parts().values()
    for side, codes in (("items", "sid"), ("users", "uid")):
        curve = data[data["of"] == side]
        count = np.bincount(np.concatenate([getattr(part, codes) for part in parts]))
        assert curve["rank"].iloc[0] == 1
        assert curve["rank"].iloc[-1] == len(count)
        assert curve["interactions"].iloc[0] == count.max()
        assert curve["interactions"].iloc[-1] == count.min() > 0
        assert curve["interactions"].is_monotonic_decreasing


def test_users_who_lost_every_row_are_not_drawn():
    result = split(synthetic_interactions(Recipe(30, 20, 150), 3), Protocol(14))
    assert curves("tiny", result)["interactions"].min() > 0
