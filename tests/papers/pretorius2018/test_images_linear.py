"""Linear networks on images: the theory, the authors' losses, the checks and the figure."""

import numpy as np
import pandas as pd
import pytest

from lindrop.claims.checks import EXTENSION
from lindrop.claims.verdicts import Verdict
from lindrop.papers.pretorius2018 import image_sets
from lindrop.papers.pretorius2018.figures import images_linear
from lindrop.papers.pretorius2018.figures.images_linear import linear_curves
from lindrop.papers.pretorius2018.learning import half_learned
from lindrop.papers.pretorius2018.published import LINEAR as AUTHORS_LINEAR
from lindrop.papers.pretorius2018.published import LOSSES
from support.image_networks import LINEAR, PAPER_IMAGES, by_claim, verdicts


@pytest.fixture(scope="module")
def linear(images):
    return linear_curves(images, LINEAR, 3)


def test_generated_images_decide_nothing_and_others_the_shape(linear):
    found = images_linear.checks(linear)
    assert set(by_claim(found).values()) == {Verdict.NOT_RUN}
    claims = {"images_linear", "images_linear_ends", "images_linear_losses"}
    assert {check.claim for check in found} == claims

    def verdict_of(data):
        return by_claim(images_linear.checks(linear.assign(data=data)))["images_linear_ends"]

    for data, ends in (("other", Verdict.IN_SHAPE), ("published", Verdict.REPRODUCED)):
        assert verdict_of(data) == ends


def test_linear_networks_follow_the_theory_and_in_their_first_steps_its_steps(linear):
    assert linear.groupby(["kind", "mode"]).ngroups == 15
    found = verdicts(images_linear.checks(linear))
    assert len(found) == 6
    assert all(held for (_, form), held in found.items() if form == EXTENSION)
    assert all(held for (what, _), held in found.items() if what.startswith("epochs to half"))
    assert found["12 modes at rest, largest distance to a fixed point", "as printed"]
    ends = linear[linear["epoch"] == linear["epoch"].max()].set_index(["kind", "mode"])["simulated"]
    assert ends["ae", 16] > 0.9 > ends["dae", 16] > 0.1
    half = {name: half_learned(linear, name) for name in ("simulated", "theory")}
    late = (half["simulated"] / half["theory"] - 1).dropna()
    assert late.drop(index=1).abs().max() < 0.03
    assert late[1].min() > 0.2


def test_modes_end_where_noise_and_weight_decay_leave_them(images, linear):
    x = images.x
    lam = np.linalg.eigvalsh(x.T @ x)[[-1, -4, -8, -16, -32]] / len(x)
    ends = linear.groupby(["kind", "mode"])["fixed_point"].last()
    np.testing.assert_allclose(ends["ae"], 1)
    np.testing.assert_allclose(ends["dae"], lam / (lam + LINEAR["variance"]), rtol=1e-4)
    np.testing.assert_allclose(ends["wdae"], (1 - LINEAR["decay"] / lam).clip(0), rtol=1e-4)


@pytest.mark.parametrize("column", ["theory", "stepwise"])
def test_a_wrong_theory_is_seen(linear, column):
    late = linear.assign(
        **{column: linear.groupby(["kind", "mode"])[column].shift(20, fill_value=0)}
    )
    form = "as printed" if column == "theory" else "extension"
    held = [
        check.holds
        for check in images_linear.checks(late)
        if "half" in check.what and check.form == form
    ]
    assert held == [False]
    other = linear.assign(simulated=0.95 * linear["simulated"])
    assert not images_linear.checks(other)[0].holds


def test_losses_are_compared_with_the_authors_where_the_training_is_theirs(images, linear):
    assert linear["paper"].isna().all()
    known = linear[linear["loss"].notna()]
    assert known.groupby("kind")["epoch"].unique().map(list).tolist() == [[0, 4900]] * 3
    x = images.x
    assert known["loss"].iloc[0] == pytest.approx(np.sum(x**2) / (2 * len(x)), rel=1e-3)
    theirs = image_sets.ImageSet(*images[:3], PAPER_IMAGES)
    epochs = pd.Series([0, 7, 4900])
    found = images_linear._authors_losses(theirs, AUTHORS_LINEAR["MNIST"], "dae", epochs)
    np.testing.assert_array_equal(found[[0, 2]], LOSSES["MNIST"]["dae"])
    assert np.isnan(found[1])
    for settings in (LINEAR, AUTHORS_LINEAR["CIFAR-10"]):
        assert np.isnan(images_linear._authors_losses(theirs, settings, "dae", epochs)).all()
    equal = linear.assign(paper=linear["loss"], data="published")
    assert by_claim(images_linear.checks(equal))["images_linear_losses"] == Verdict.REPRODUCED
    other = equal.assign(paper=1.002 * equal["loss"])
    assert by_claim(images_linear.checks(other))["images_linear_losses"] == Verdict.NOT_REPRODUCED


def test_the_figure_of_linear_networks(linear):
    both = pd.concat([linear, linear.assign(images="others")])
    figure = images_linear.draw(both)
    axes = figure.axes
    assert [axis.get_title("left").split(": ")[1] for axis in axes] == ["weight decay", "noise"] * 2
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert labels == {
        f"{name}, {of}" for name in ("AE", "WDAE", "DAE") for of in ("theory", "network")
    }
    for axis, kind in zip(axes, ("wdae", "dae") * 2, strict=True):
        curve = linear[(linear["kind"] == kind) & (linear["mode"] == 1) & (linear["epoch"] > 0)]
        np.testing.assert_array_equal(axis.lines[10].get_ydata(), curve["theory"])
        crosses = axis.lines[11]
        drawn = curve.set_index("epoch")["simulated"][crosses.get_xdata()]
        np.testing.assert_array_equal(crosses.get_ydata(), drawn)
        assert 5 < len(drawn) < 40
        assert {text.get_text() for text in axis.texts} >= {"mode 1", "4", "8"}
