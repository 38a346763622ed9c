"""Figures 1 and 2 of Mianjy 2018 show what their captions say."""

import numpy as np
import pandas as pd
import pytest

from lindrop.dropout.objective import tied_gradient, tied_objective
from lindrop.papers.mianjy2018.figures import fig1, fig2
from lindrop.papers.mianjy2018.figures.fig1 import M, optima
from lindrop.store.curves import read_curves, write_curves


@pytest.fixture(scope="module")
def surfaces():
    return fig1.data()


@pytest.fixture(scope="module")
def traces():
    return fig2.data(1)


def test_the_surface_is_the_objective(surfaces):
    for _, point in surfaces.sample(20, random_state=1).iterrows():
        u = np.array([[point["u1"], point["u2"]]])
        assert point["f"] == pytest.approx(tied_objective(M, u, point["lam"]))


@pytest.mark.parametrize("lam", [0.1, 0.5, 2.0])
def test_the_marked_optima_are_stationary_and_lower_than_the_grid(surfaces, lam):
    places = optima(lam)
    assert len(np.unique(places.round(9), axis=0)) == 4
    for place in places:
        np.testing.assert_allclose(tied_gradient(M, place[None], lam), 0, atol=1e-12)
    shown = surfaces.loc[surfaces["lam"] == lam, "f"]
    if len(shown):
        assert tied_objective(M, places[:1], lam) <= shown.min()


def refuted(surfaces):
    return [check.what for check in fig1.checks(surfaces) if not check.holds]


def test_the_caption_of_figure_1_holds(surfaces):
    assert not refuted(surfaces)


def test_the_caption_of_figure_1_does_not_hold_of_other_surfaces(surfaces):
    tilted = refuted(surfaces.assign(f=surfaces["f"] + surfaces["u1"]))
    assert any("their number" in what for what in tilted)
    assert any("rotation" in what for what in tilted)
    lopsided = refuted(surfaces.assign(f=surfaces["f"] + 1e-3 * surfaces["u1"]))
    assert any("difference of their f" in what for what in lopsided)
    same = surfaces.assign(f=np.tile(surfaces.loc[surfaces["lam"] == 0.5, "f"], 3))
    assert any("radius of the minima" in what for what in refuted(same))


def test_runs_start_where_they_should_and_end_equalised_at_an_optimum(traces):
    assert all(check.holds for check in fig2.checks(traces))
    first = traces[traces["step"] == 0]
    assert len(first) == 6
    np.testing.assert_allclose(
        first.loc[first["run"] == 0, ["u1", "u2"]], np.tile(fig2.STARTS[0], (3, 1))
    )
    stopped = traces[traces["step"] < 100]
    assert not any(check.holds for check in fig2.checks(stopped))


def test_a_seed_gives_the_same_traces(traces):
    pd.testing.assert_frame_equal(traces, fig2.data(1))


def test_the_figures_mark_starts_and_optima(surfaces, traces):
    figure = fig1.draw(surfaces)
    assert [axis.get_title() for axis in figure.axes[:6:2]] == ["λ = 0", "λ = 0.5", "λ = 2"]
    (key,) = figure.legends
    texts = [text.get_text() for text in key.get_texts()]
    assert texts == ["global optima at λ = 0", "global optima at λ > 0"]
    assert "f less its least value" in figure.axes[6].get_ylabel()  # the key of the levels
    for axis in fig2.draw(traces).axes:
        marked = [line for line in axis.lines if line.get_marker() in "oX"]
        assert sorted(len(line.get_xdata()) for line in marked) == [1, 1, 1, 1, 4]


def test_curves_are_read_to_the_last_bit(tmp_path):
    curves = pd.DataFrame({"step": [0, 1], "f": [1 / 3, 2e-17 / 7]})
    write_curves(tmp_path / "curves.csv", curves)
    pd.testing.assert_frame_equal(read_curves(tmp_path / "curves.csv"), curves, check_exact=True)
