"""The objectives that tests hold models to."""

import numpy as np
import pytest

from support.objectives import RANK, Loss, WeightDecay


def test_the_gradients_of_this_file_are_those_of_its_objectives():
    """The gradients in support/objectives.py agree with differences of the objectives."""
    rng = np.random.default_rng(0)
    u, v, du, dv = rng.normal(size=(4, 20, RANK))
    for loss in (Loss(0.3, 5.0), Loss(0.3, 5.0, free_diagonal=True), WeightDecay(5.0)):
        of_u, of_v = loss.gradients(u, v)
        slope = (loss(u + 1e-5 * du, v + 1e-5 * dv) - loss(u - 1e-5 * du, v - 1e-5 * dv)) / 2e-5
        assert np.vdot(of_u, du) + np.vdot(of_v, dv) == pytest.approx(slope, rel=1e-7)
