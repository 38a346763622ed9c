"""The figures of Pretorius 2018 that need no images, and their checks."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from lindrop.claims.checks import EXTENSION, PRINTED
from lindrop.dropout.dynamics.modes import Mode
from lindrop.papers.pretorius2018 import trainings
from lindrop.papers.pretorius2018.figures import dae_vs_wdae as noise_beside_decay
from lindrop.papers.pretorius2018.figures import dynamics as learning
from lindrop.papers.pretorius2018.figures import rates as optimal_rates
from lindrop.papers.pretorius2018.figures import weight_norms as norms
from support.checks import words_of_failing


@pytest.fixture(scope="module")
def dynamics():
    return learning.data(1)


@pytest.fixture(scope="module")
def dae_vs_wdae():
    return noise_beside_decay.data()


@pytest.fixture(scope="module")
def rate_data():
    return optimal_rates.data(1)


@pytest.fixture(scope="module")
def weight_norms():
    return norms.data(1)


def test_dynamics_lie_on_top_of_each_other(dynamics):
    found = learning.checks(dynamics)
    assert len(found) == 6
    assert all(check.holds for check in found)
    shifted = dynamics.assign(w=dynamics["w"] + 0.02)
    assert not any(check.holds for check in learning.checks(shifted))
    starts = dynamics[dynamics["epoch"] == 0].groupby(["model", "eps"])[["w1", "w2"]]
    assert starts.ngroups == 5
    assert starts.nunique().eq(trainings.RUNS).all(axis=None)
    assert dynamics[["w1", "w2"]].abs().max(axis=None) < trainings.REACH


def test_the_figure_of_the_dynamics(dynamics):
    figure = learning.draw(dynamics)
    titles = [axis.get_title("left") for axis in figure.axes]
    assert titles[:3] == ["AE", "DAE, ε = 1", "DAE, ε = 5"]
    assert titles[4:] == ["WDAE, Nγ = 0.5", "WDAE, Nγ = 0.833"]
    for axis in (*figure.axes[:3], *figure.axes[4:]):
        assert len(axis.lines) == 3 * trainings.RUNS + 1
    ae = dynamics[(dynamics["model"] == "AE") & (dynamics["run"] == 0)]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), ae["w"])


def test_weight_decay_is_slower_than_noise_and_the_exponent_of_our_copy_wrong(dae_vs_wdae):
    found = noise_beside_decay.checks(dae_vs_wdae)
    assert words_of_failing(found) == []
    copied = dae_vs_wdae.assign(w=dae_vs_wdae["printed"].fillna(dae_vs_wdae["w"]))
    assert any(
        what.startswith("WDAE: w(t)")
        for what in words_of_failing(noise_beside_decay.checks(copied))
    )
    alike = dae_vs_wdae.drop(columns=["w"]).merge(
        dae_vs_wdae.loc[dae_vs_wdae["model"] == "DAE", ["lam", "eps", "epoch", "w"]]
    )
    assert len(words_of_failing(noise_beside_decay.checks(alike))) == 2


def test_the_figure_of_noise_and_decay(dae_vs_wdae):
    *axes, colours = noise_beside_decay.draw(dae_vs_wdae).axes
    assert colours.get_ylabel() == "ε"
    assert [len(axis.lines) for axis in axes] == [10] * 3 + [11] * 3
    example = axes[4].lines[-1].get_ydata()  # λ = 1, where the printed form is right
    np.testing.assert_allclose(example, axes[4].lines[5].get_ydata(), atol=1e-9)
    assert np.abs(axes[3].lines[-1].get_ydata() - axes[3].lines[5].get_ydata()).max() > 0.5


def test_printed_rates_make_noise_and_decay_one_curve(rate_data):
    found = optimal_rates.checks(rate_data)
    assert [check.form for check in found] == [PRINTED] + [EXTENSION] * 3
    assert all(check.holds for check in found)
    table = rate_data[1]
    printed = table[(table["of"] == "as printed") & np.isclose(table["eps"], 2)]
    assert printed["rate"].tolist() == pytest.approx([1 / 8, 1 / (2 + 2 / 3)])
    assert printed["steps"].nunique() == 1

    assert optimal_rates.curvature_of_code(Mode(1.0, decay=0.5)) == 3
    names = {"WDAE": "WDAE, public code", "WDAE, public code": "WDAE"}
    exchanged = optimal_rates.checks((rate_data[0].replace({"model": names}), table))
    assert {found[0].what, found[1].what} <= set(words_of_failing(exchanged))


def test_the_figure_of_the_rates(rate_data):
    figure = optimal_rates.draw(rate_data)
    trajectories, differences, ratio, *below, _ = figure.axes
    assert [len(axis.lines) for axis in (trajectories, differences)] == [20, 20]
    printed = np.array([line.get_ydata() for line in differences.lines[10:]])
    assert np.abs(printed).max() < 1e-12
    assert np.abs(differences.lines[5].get_ydata()).max() > 0.1
    assert [len(axis.lines) for axis in below] == [5, 5, 5]
    dae, wdae, *_ = (line.get_ydata() for line in below[0].lines)
    np.testing.assert_allclose(ratio.lines[0].get_ydata(), dae / wdae)
    (key,) = figure.legends
    labels = [text.get_text() for text in key.get_texts()]
    assert len(labels) == 5
    assert "DAE, as printed: 1/(2λ + 3ε)" in labels


def test_the_share_of_random_starts_that_diverge(rate_data):
    shares = rate_data[1].set_index(["model", "of", "eps"])["diverging"].sort_index()
    assert shares["DAE", "as printed"].loc[0.6:].max() == 0
    assert 0.02 < shares["DAE", "of the path", 0.4] < shares["DAE", "of the path", 5.0] < 1


def test_noise_keeps_what_decay_forgets(weight_norms):
    found = norms.checks(weight_norms)
    assert len(found) == 9
    assert all(check.holds for check in found)
    assert set(weight_norms["run"]) == set(range(trainings.RUNS + 1))
    small = weight_norms[(weight_norms["run"] == 0) & (weight_norms["epoch"] == 0)]
    np.testing.assert_allclose(small[["w1", "w2"]], 0.01)
    exchanged = weight_norms.replace({"model": {"DAE": "WDAE", "WDAE": "DAE"}})
    wrong = words_of_failing(norms.checks(exchanged))
    assert sum("falls as" in what or "stays" in what for what in wrong) == 2
    assert any("last norm of a DAE over" in what for what in wrong)


def test_the_figure_of_the_norms(weight_norms):
    figure = norms.draw(weight_norms)
    planes, sizes = (figure.axes[column::3] for column in (0, 2))
    assert [axis.get_title("left") for axis in planes] == ["DAE, ε = 0.1", "WDAE, Nγ = 0.0909"]
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"from a small start", "from random starts", "gradient descent"} < labels
    assert {"saddle at 0", "minima of a DAE", "minima of a WDAE"} < labels
    for axis in sizes:
        small, descent, *others, _ = axis.lines
        assert to_hex(small.get_color()) != to_hex(others[0].get_color())
        np.testing.assert_allclose(small.get_ydata(), descent.get_ydata(), atol=0.05)


def test_a_seed_gives_the_same_table(dynamics, weight_norms):
    assert learning.data(1).equals(dynamics)
    assert norms.data(1).equals(weight_norms)
    assert not norms.data(2).equals(weight_norms)
