"""Short trainings: the tables, what is asked of them, and what the figures show."""

import numpy as np
import pandas as pd
import pytest

from lindrop.claims.checks import CHARITABLE, CORRECTED
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.dropout.dropblock import fixed_objective
from lindrop.papers.pal2020.figures import dropconnect as on_inputs
from lindrop.papers.pal2020.figures import fig1, fig3, fig4, fig5, fig6, schemes
from lindrop.papers.pal2020.synthetic import synthetic
from lindrop.papers.pal2020.trainings import (
    MORE_KEEPS,
    UNIT,
    mean_factor,
    share_of_height,
)
from support.checks import claims_of

SEED, ITERATIONS = 4, 2000


@pytest.fixture(scope="module")
def dropblock():
    return fig1.dropblock_curves(SEED, (0.3, 0.5), ITERATIONS)


@pytest.fixture(scope="module")
def dropconnect():
    return fig3.data(SEED, ITERATIONS)


@pytest.fixture(scope="module")
def inputs():
    return on_inputs.data(SEED, ITERATIONS)


@pytest.fixture(scope="module")
def overlap():
    return fig4.data(SEED, ITERATIONS)


def failing(checks, whole=False):
    shown = (lambda what: what) if whole else (lambda what: what.split(";")[0])
    return {(shown(check.what), check.form) for check in checks if not check.holds}


def labels(axis):
    return axis.get_legend_handles_labels()[1]


def key_of(figure):
    (key,) = figure.legends
    return [text.get_text() for text in key.get_texts()]


def drawn(axis, label):
    (line,) = (line for line in axis.lines if line.get_label() == label)
    return line.get_ydata()


def test_dropblock_costs_what_lemma_2_1_says_and_reaches_the_minimum(dropblock):
    checks = fig1.checks(dropblock)
    assert len(checks) == 6
    assert not failing(checks)
    for _, curve in dropblock.groupby("keep"):
        assert curve["iteration"].iloc[[0, -1]].tolist() == [1, ITERATIONS]
        assert curve["deterministic"].iloc[0] > 3 * curve["minimum"].iloc[0]
        assert curve["deterministic"].min() >= curve["minimum"].iloc[0]


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_an_objective_a_little_wrong_is_seen(dropblock, factor):
    checks = fig1.checks(dropblock.assign(deterministic=factor * dropblock["deterministic"]))
    assert not any(check.holds for check in checks if "Lemma 2.1" in check.what)


@pytest.mark.parametrize(("factor", "fail"), [(0.9, 2), (1.1, 4)])
def test_a_wrong_minimum_is_seen(dropblock, factor, fail):
    shifted = dropblock.assign(minimum=factor * dropblock["minimum"])
    checks = [check for check in fig1.checks(shifted) if check.claim == "fig1"]
    assert sum(not check.holds for check in checks) == fail


def test_the_end_of_a_short_training_tells_nothing(dropblock, overlap):
    for checks_of, curves in ((fig1.checks, dropblock), (fig4.checks, overlap)):
        ended, short = (checks_of(curves[curves["iteration"] <= n]) for n in (ITERATIONS, 1000))
        ends = [check for check in short if check.what.startswith("last objective")]
        assert ends
        assert all(np.isnan(check.computed) for check in ends)
        assert all(np.isfinite(check.computed) for check in ended)


def test_fresh_masks_change_no_training(dropblock, monkeypatch):
    monkeypatch.setattr(fig1, "FRESH", 3)
    other = fig1.dropblock_curves(SEED, (0.3, 0.5), 100)
    same = dropblock.merge(other, on=["keep", "iteration"], suffixes=("", "_other"))
    assert len(same) == 200
    np.testing.assert_array_equal(same["stochastic"], same["stochastic_other"])
    assert not np.any(same["sampled"] == same["sampled_other"])


def test_masks_of_blocks_of_another_size_are_seen(monkeypatch):
    """Trained with blocks of 25, held against the objective of blocks of 5."""
    right = fig1.dropblock
    other = right(50, 0.5, 25)

    def mixed(nodes, keep, block):
        return other._replace(characteristic=right(nodes, keep, block).characteristic)

    monkeypatch.setattr(fig1, "dropblock", mixed)
    checks = fig1.checks(fig1.data(SEED, 200))
    assert not checks[0].holds


def test_a_mean_that_may_be_chance_is_none():
    factors = pd.Series([0.5, 1.5] * 50)
    short, long = (mean_factor("c", "w", factors, telling) for telling in (0.2, 0.3))
    assert np.isnan(short.computed)
    assert short.tolerance == 0.2
    assert long.computed == 1
    assert long.tolerance == pytest.approx(5 * 0.5 / np.sqrt(99), rel=1e-9)


def test_all_trainings_start_at_the_same_weights(dropblock, dropconnect):
    x, y, u, v, _ = synthetic(np.random.default_rng(SEED))
    for keep, first in dropblock.groupby("keep")["deterministic"].first().items():
        assert first == pytest.approx(fixed_objective(y, x, u, v, 5, keep), rel=1e-12)
    start = dropconnect.groupby("scheme").first()
    expected = fixed_objective(y, x, u, v, 1, 0.5)
    assert start.loc["dropout", "deterministic"] == pytest.approx(expected, rel=1e-12)
    assert start.loc["DropConnect", "printed"] == pytest.approx(expected, rel=1e-12)


def test_theorem_4_1_misses_dropconnect_and_the_correction_does_not(dropconnect, inputs):
    printed = "loss under the mask over dropout's loss"
    for checks in (fig3.checks(dropconnect), on_inputs.checks(inputs)):
        assert all(check.holds for check in checks if check.form == CORRECTED)
        assert printed in {what for what, _ in failing(checks)}
    normal, relu = (
        case["deterministic"].iloc[-1] / case["printed"].iloc[-1]
        for _, case in inputs.groupby("inputs", sort=False)
    )
    assert relu < 0.9 < normal < 0.99


def test_theorem_4_1_holds_on_average_over_white_inputs(dropconnect):
    checks = [check for check in fig3.checks(dropconnect) if check.form == CHARITABLE]
    assert len(checks) == 2
    assert all(check.holds for check in checks)
    white = dropconnect[dropconnect["scheme"] == fig3.WHITE]
    assert (white["deterministic"] / white["printed"]).between(1 - 1e-12, 1 + 1e-12).all()
    worse = dropconnect.assign(printed=1.02 * dropconnect["printed"])
    charitable = [check for check in fig3.checks(worse) if check.form == CHARITABLE]
    assert [check.holds for check in charitable] == [False, True]


@pytest.mark.parametrize("factor", [0.95, 1.1])
def test_a_training_with_dropconnect_that_ends_elsewhere_is_seen(dropconnect, factor):
    connect = dropconnect["scheme"] == "DropConnect"
    moved = dropconnect["deterministic"].where(~connect, factor * dropconnect["deterministic"])
    found = fig3.checks(dropconnect.assign(deterministic=moved))
    assert not [check for check in found if check.form == CHARITABLE][-1].holds


def test_distances_are_shares_of_the_height_of_the_axis():
    curve = pd.DataFrame({"deterministic": [100.0, 30.0, 10.0]})
    assert share_of_height(curve, 10.0, 10 * 10**0.02) == pytest.approx(0.02, rel=1e-12)


def test_overlapping_blocks_need_the_appropriate_rate(overlap):
    checks = fig4.checks(overlap)
    assert len(checks) == 4
    assert not failing(checks)
    swapped = overlap.assign(
        scheme=overlap["scheme"].replace({fig4.SAME: fig4.APPROPRIATE, fig4.APPROPRIATE: fig4.SAME})
    )
    assert not any(check.holds for check in fig4.checks(swapped))


def test_verdicts_on_the_figures(dropblock, dropconnect, overlap):
    claims = {claim.id: claim for claim in claims_of("pal2020").claims}
    for name, figure, curves, wanted in (
        ("figure_1", fig1, dropblock, Verdict.REPRODUCED),
        ("figure_3", fig3, dropconnect, Verdict.REPRODUCED),
        ("figure_4", fig4, overlap, Verdict.EXTENDED),
        ("figure_5", fig5, dropblock, Verdict.REPRODUCED),
        ("figure_6", fig6, dropconnect, Verdict.REPRODUCED),
    ):
        claim = claims[name]
        assert claim.accusation is None
        own = [check for check in figure.checks(curves) if check.claim in claim.checks]
        assert verdict(own) is wanted, name


def test_every_figure_decides_the_claim_of_its_name(dropblock, dropconnect, inputs, overlap):
    for claim, figure, curves in (
        ("fig1", fig1, dropblock),
        ("fig3", fig3, dropconnect),
        ("fig4", fig4, overlap),
        ("fig5", fig5, dropblock),
        ("fig6", fig6, dropconnect),
        ("dropconnect", on_inputs, inputs),
    ):
        assert {check.claim for check in figure.checks(curves)} == {claim}


def test_figures_5_and_6_are_figures_1_and_3_at_other_rates(dropblock, dropconnect):
    for more, first, curves in ((fig5, fig1, dropblock), (fig6, fig3, dropconnect)):
        assert [check.what for check in more.checks(curves)] == [
            check.what for check in first.checks(curves)
        ]
        assert more.draw is first.draw
        assert sorted(set(more.data(SEED, 1)["keep"])) == list(MORE_KEEPS)
    assert sorted(set(fig1.data(SEED, 1)["keep"])) == [0.5]
    assert sorted(set(fig3.data(SEED, 1)["keep"])) == [0.5]


def test_one_seed_gives_one_table():
    tables = [fig3.data(SEED, 30) for _ in range(2)]
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(fig3.data(SEED + 1, 30))


def test_figures_1_and_5(dropblock):
    figure = fig1.draw(dropblock)
    assert len(figure.axes) == 4
    assert key_of(figure) == [
        *("DropBlock, stochastic (5 to 95%)", "mean of 200 masks", "DropBlock, deterministic"),
        "minimum of Theorem 2.7",
    ]
    for (_, curve), (left, right) in zip(
        dropblock.groupby("keep"), np.reshape(figure.axes, (-1, 2)), strict=True
    ):
        for label, column in (
            ("mean of 200 masks", "sampled"),
            ("DropBlock, deterministic", "deterministic"),
        ):
            np.testing.assert_array_equal(drawn(left, label), curve[column] / UNIT)
        assert set(drawn(right, "minimum of Theorem 2.7")) == {curve["minimum"].iloc[0] / UNIT}
        assert left.get_ylim()[0] >= 0.4 * curve["minimum"].iloc[0] / UNIT


def test_a_band_holds_nine_tenths_of_the_losses(dropblock):
    curve = dropblock[dropblock["keep"] == 0.5]
    (band,) = fig1.draw(curve).axes[0].collections
    outline = band.get_paths()[0].vertices
    inside = 0
    for iteration, loss in zip(curve["iteration"], curve["stochastic"] / UNIT, strict=True):
        ends = outline[outline[:, 0] == iteration, 1]
        inside += ends.min() <= loss <= ends.max()
    assert inside / len(curve) == pytest.approx(0.9, abs=0.03)


def test_figures_3_and_6(dropconnect):
    figure = fig3.draw(dropconnect)
    left, middle, right = figure.axes
    assert len(key_of(figure)) == 6
    connect = dropconnect[dropconnect["scheme"] == "DropConnect"]
    for axis in (left, middle):
        for label, column in (
            ("DropConnect, E18", "deterministic"),
            ("DropConnect, Eq. 20", "printed"),
        ):
            np.testing.assert_array_equal(drawn(axis, label), connect[column] / UNIT)
    dropout = dropconnect[dropconnect["scheme"] == "dropout"]
    np.testing.assert_array_equal(drawn(middle, "dropout"), dropout["deterministic"] / UNIT)
    ratios = connect["deterministic"] / connect["printed"]
    assert any(np.array_equal(line.get_ydata(), ratios) for line in right.lines)


def test_figure_4(overlap):
    figure = fig4.draw(overlap)
    first, second = figure.axes
    assert len(key_of(figure)) == len(first.lines) == len(second.lines) == 3
    for axis, (_, case) in zip((first, second), overlap.groupby("keep"), strict=True):
        grid = case[case["scheme"] == "grid"]
        np.testing.assert_array_equal(drawn(axis, "grid"), grid["smoothed"] / UNIT)


def test_the_figure_of_other_inputs(inputs):
    figure = on_inputs.draw(inputs)
    left, right = figure.axes
    assert len(set(key_of(figure))) == 6
    assert left.get_title(loc="left")
    assert right.get_title(loc="left")
    for kind in on_inputs.INPUTS:
        case = inputs[inputs["inputs"] == kind]
        ratio = case["deterministic"] / case["printed"]
        np.testing.assert_array_equal(drawn(right, f"E18, {kind}"), ratio)
    figure.canvas.draw()
    (key,) = figure.legends
    for axis in (left, right):
        assert key.get_window_extent().y1 < axis.get_tightbbox().y0
        assert axis.yaxis.label.get_window_extent().y1 < figure.bbox.height


def test_a_figure_says_how_long_its_trainings_were(dropblock, dropconnect, overlap, inputs):
    for figure, curves in (
        (fig1, dropblock),
        (fig3, dropconnect),
        (fig4, overlap),
        (on_inputs, inputs),
    ):
        for last, said in ((None, "the paper's axes end at 100,000"), (100_000, "as in the paper")):
            long = curves if last is None else curves.replace({"iteration": {ITERATIONS: last}})
            drawing = figure.draw(long)
            title = drawing.get_suptitle()
            assert said in title
            assert "ours: step sizes" in title
            drawing.canvas.draw()
            assert drawing._suptitle.get_window_extent().x1 <= drawing.bbox.width


def test_the_figure_of_characteristic_matrices():
    matrices = schemes.data(SEED, nodes=10, draws=4000)
    error = (matrices["exact"] - matrices["sampled"]).abs().groupby(matrices["scheme"]).max()
    assert len(error) == 4
    assert error.max() < 0.2
    *axes, _ = schemes.draw(matrices).axes
    for axis, (_, matrix) in zip(axes, matrices.groupby("scheme", sort=False), strict=True):
        image = axis.images[0].get_array()
        exact, sampled = (
            matrix.pivot(index="i", columns="j", values=of) for of in ("exact", "sampled")
        )
        assert [text.get_text() for text in axis.texts] == ["exact", "sampled"]
        assert axis.images[0].norm.vmin <= image.min()
        assert axis.images[0].norm.vmax >= image.max()
        upper, lower = np.triu_indices(10), np.tril_indices(10, -1)
        np.testing.assert_array_equal(image[upper], exact.to_numpy()[upper])
        np.testing.assert_array_equal(image[lower], sampled.to_numpy()[lower])
