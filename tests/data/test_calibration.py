"""On the demo set the models come out in the order that it was calibrated for.

A regression test of the generator, not evidence for any claim of a paper: the set was made so.
"""

import calibrate_synthetic as calibration
import pandas as pd
import pytest

from lindrop.models.base import Training
from lindrop.ranking.evaluation import paired

TUNED = pd.read_csv(calibration.OUTPUT).query("seed == 1").set_index("model")


@pytest.fixture(scope="module")
def per_user():
    """Test metrics of every model at the hyper-parameters that the benchmark chose."""
    parts = calibration.demo(seed=1)
    data = Training.of(parts.matrix("train"))
    points = TUNED[["p", "lambda"]].itertuples(index=False)
    return {
        name: calibration.metrics(parts, data, name, tuple(point), "test")
        for name, point in zip(TUNED.index, points, strict=True)
    }


@pytest.mark.parametrize(
    ("better", "worse"),
    [(name, rival) for name, (_, _, rival) in calibration.MODELS.items() if rival],
)
def test_each_model_beats_its_rival_beyond_the_paired_errors(better, worse, per_user):
    lead = paired(per_user[better], per_user[worse]).loc["ndcg@100"]
    assert lead["mean"] > 4 * lead["stderr"]


def test_the_committed_numbers_are_what_the_code_gives(per_user):
    for name, found in per_user.items():
        assert found["ndcg@100"].mean() == pytest.approx(TUNED.loc[name, "ndcg100"], abs=2e-4)
