"""Nonlinear networks on images: the authors' curves, the checks and the figures."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.claims.verdicts import Verdict
from lindrop.papers.pretorius2018 import published
from lindrop.papers.pretorius2018.figures import relu, supp_fig1
from lindrop.papers.pretorius2018.figures.supp_fig1 import authors_mapping, network_curves
from lindrop.papers.pretorius2018.image_sets import title
from lindrop.papers.pretorius2018.kinds import kinds
from lindrop.papers.pretorius2018.networks import network
from lindrop.papers.pretorius2018.published import SETTINGS, SOURCES, authors_curve
from support.image_networks import PAPER_IMAGES, SMALL, by_claim, trained, verdicts


@pytest.fixture(scope="module")
def curves(images, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {
        activation: network_curves(
            trained(images, activation, kind, folder) for kind in kinds(SMALL["noise"])
        )
        for activation in ("tanh", "relu")
    }


SETTINGS_OF_A_NETWORK = "hidden", "rate", "epochs", "every", "noise", "decay"
FILES = {"ae": "none_highres", "wdae": "reg_highres", "dae": "noise_highres_1"}
ENDS = {  # the authors' last mappings, as their files have them
    ("MNIST", "ae"): [1.0005, 1.0004, 0.9986, 0.9983],
    ("MNIST", "wdae"): [0.9557, 0.5883, 0.5132, 0.4322],
    ("MNIST", "dae"): [0.9513, 0.5830, 0.5216, 0.4892],
    ("CIFAR-10", "ae"): [1.0000, 0.9991, 0.9987, 0.9989],
    ("CIFAR-10", "wdae"): [0.9907, 0.7164, 0.5202, 0.0010],
    ("CIFAR-10", "dae"): [0.9878, 0.7329, 0.6189, 0.4649],
}


@pytest.mark.parametrize(("images", "kind"), SOURCES)
def test_the_curves_end_where_those_of_the_authors_do(images, kind):
    found = authors_curve(images, kind, np.arange(0, 2000, 10)).T
    np.testing.assert_allclose(found[-1], ENDS[images, kind], atol=5e-5)
    assert np.isnan(authors_curve(images, kind, np.array([5, 2000]))).all()


@pytest.mark.parametrize(("images", "kind"), SOURCES)
def test_the_curves_are_those_of_the_authors_files(images, kind, shared):
    found = authors_curve(images, kind, np.arange(0, 2000, 10)).T
    name = f"{images.lower().replace('-', '')}_relu_{FILES[kind]}.npy"
    file = shared / "pretorius-curves" / name
    assert hashlib.sha256(file.read_bytes()).hexdigest() == SOURCES[images, kind]
    np.testing.assert_allclose(found, np.load(file)[1:], atol=5.1e-7)


def test_other_curves_than_the_authors_are_refused(tmp_path, monkeypatch):
    changed = tmp_path / "curves.csv"
    changed.write_bytes(published.CURVES.read_bytes().replace(b"0.951285", b"0.951286"))
    monkeypatch.setattr(published, "CURVES", changed)
    published.curves.cache_clear()
    with pytest.raises(UserError, match="differs from the authors' curves"):
        published.curves()


def test_the_authors_curves_stand_beside_their_own_training_only():
    epochs = np.array([0, 500, 1990])
    for kind in kinds(2.0):
        net = network("relu", kind, SETTINGS["MNIST"], 9)
        theirs = authors_curve("MNIST", "dae" if kind == "dae_variance" else kind, epochs)
        found = authors_mapping(PAPER_IMAGES, kind, net, epochs)
        np.testing.assert_array_equal(found, theirs)
        others = [
            net._replace(activation="tanh"),
            *(net._replace(**{name: getattr(net, name) + 1}) for name in SETTINGS_OF_A_NETWORK),
        ]
        for other in others:
            assert np.isnan(authors_mapping(PAPER_IMAGES, kind, other, epochs)).all()
        for facts in ({"published": None}, {"published": "CIFAR-10"}, {"count": 49_999}):
            assert np.isnan(authors_mapping(PAPER_IMAGES | facts, kind, net, epochs)).all()


def published_curves(curves):
    """Ours, as if they had been trained as the authors' and were theirs but for a shift."""
    table = curves["relu"]
    table = table[table["epoch"] < 2000]
    both = pd.concat([table, table[table["kind"] == "dae"].assign(kind="dae_variance")])
    every = np.arange(0, 2000, 10)
    theirs = {kind: authors_curve("MNIST", kind, every) for kind in FILES}
    paper = [
        np.interp(row.epoch, every, theirs[row.kind.removesuffix("_variance")][row.mode - 1])
        for row in both.itertuples()
    ]
    shift = np.where(both["kind"] == "dae_variance", 0.15, 0.01)
    return both.assign(
        data="published",
        paper=paper,
        mapping=np.array(paper) + shift,
        clean=np.array(paper) - 0.2,
    )


OF_AUTHORS = "relu_ends", "relu_curves", "relu_noise", "relu_inputs"


def test_checks_tell_whether_networks_are_the_authors_and_which_noise_and_inputs(curves):
    table = published_curves(curves)
    found = relu.checks(table)
    assert {by_claim(found)[claim] for claim in OF_AUTHORS} == {Verdict.REPRODUCED}
    assert by_claim(found)["relu"] == Verdict.REPRODUCED
    far = by_claim(relu.checks(table.assign(mapping=table["mapping"] + 0.1)))
    assert far["relu_ends"] == far["relu_noise"] == far["relu_inputs"] == Verdict.NOT_REPRODUCED
    late = by_claim(
        relu.checks(table.assign(mapping=table.groupby(["kind", "mode"])["mapping"].shift(8)))
    )
    assert late["relu_curves"] == Verdict.NOT_REPRODUCED
    same = table["kind"] == "dae_variance"
    near = table.assign(mapping=table["mapping"] - 0.1 * same, clean=table["paper"])
    either = by_claim(relu.checks(near))
    assert either["relu_noise"] == either["relu_inputs"] == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("without", ["noise", "decay"])
def test_networks_without_noise_or_without_decay_fail(curves, without):
    table = published_curves(curves)
    plain = table[table["kind"] == "ae"]
    kind = "dae" if without == "noise" else "wdae"
    other = pd.concat([table[table["kind"] != kind], plain.assign(kind=kind)])
    assert by_claim(relu.checks(other))["relu"] == Verdict.NOT_REPRODUCED


def test_another_training_says_nothing_of_the_authors_values(curves):
    table = published_curves(curves)
    for other in (curves["relu"], table.assign(paper=np.nan)):
        found = by_claim(relu.checks(other))
        assert {found[claim] for claim in OF_AUTHORS} == {Verdict.NOT_RUN}
    assert not set(OF_AUTHORS) & set(by_claim(supp_fig1.checks(curves["tanh"])))


def test_the_supplement_is_checked_with_the_printed_variance(curves):
    table = curves["tanh"]
    noisy = table[table["kind"] == "dae"]
    both = pd.concat([table, noisy.assign(kind="dae_variance", mapping=0.9 * noisy["mapping"])])
    found = supp_fig1.as_printed(both)
    assert set(found["kind"]) == {"ae", "wdae", "dae"}
    chosen = found[found["kind"] == "dae"]["mapping"].to_numpy()
    np.testing.assert_array_equal(chosen, 0.9 * noisy["mapping"].to_numpy())
    pd.testing.assert_frame_equal(supp_fig1.as_printed(table), table)
    (axis,) = supp_fig1.draw(both).axes
    styles = [line.get_linestyle() for line in axis.lines if len(line.get_xdata()) > 1]
    assert styles.count(":") == 4
    assert {line.get_linestyle() for line in axis.lines[-8:] if line.get_linestyle() != "None"} == {
        "-"
    }


def test_a_set_that_learned_nothing_yet_is_silent_where_another_of_its_kind_tells(curves):
    table = curves["tanh"].assign(data="published")
    unlearned = table.assign(images="others", mapping=0.001 * table["mapping"])
    both = supp_fig1.checks(pd.concat([unlearned, table]))
    alone = supp_fig1.checks(table)
    assert [check for check in both if check.claim == "supp_fig1"] == [
        check for check in alone if check.claim == "supp_fig1"
    ]
    assert len([check for check in both if check.claim == "supp_fig1_range"]) == 4
    assert by_claim(supp_fig1.checks(unlearned))["supp_fig1"] == Verdict.NOT_RUN
    generated = pd.concat([unlearned, table.assign(data="synthetic")])
    found = supp_fig1.checks(generated)
    assert {check.data for check in found if check.claim == "supp_fig1"} == {
        "published",
        "synthetic",
    }
    assert by_claim(found)["supp_fig1"] == Verdict.NOT_RUN


def test_the_table_of_networks(images, curves):
    table = curves["relu"]
    assert table["images"].unique().tolist() == [title(images.source)]
    assert table.groupby(["kind", "mode"]).size().eq(100).all()
    assert table["paper"].isna().all()
    plain = table[table["kind"] != "dae"]
    np.testing.assert_array_equal(plain["mapping"], plain["clean"])
    ends = table.groupby(["kind", "mode"])["mapping"].last().unstack()
    assert (ends.loc["ae"] > 0.95).all()
    assert np.all(np.diff(ends.loc["dae"]) < 0)
    starts = table.groupby("kind")[["mapping", "loss"]].first()
    assert starts["mapping"].abs().max() < 1e-3
    assert np.ptp(starts["loss"]) < 1e-4


def test_noise_slows_less_than_weight_decay(curves):
    for activation, figure, claim in (("tanh", supp_fig1, "supp_fig1"), ("relu", relu, "relu")):
        checks = figure.checks(curves[activation])
        of_figure = [check for check in checks if check.claim == claim]
        assert len(of_figure) == 5
        assert all(check.holds for check in of_figure)
        assert {check.data for check in checks} == {"synthetic"}
    swapped = curves["relu"].replace({"kind": {"dae": "wdae", "wdae": "dae"}})
    failed = [what for (what, _), held in verdicts(relu.checks(swapped)).items() if not held]
    assert any("DAE / WDAE" in what for what in failed)
    found = verdicts(relu.checks(curves["relu"]))
    assert found["smallest mapping", "as printed"]
    doubled = curves["relu"].assign(mapping=-2 * curves["relu"]["mapping"])
    assert not verdicts(relu.checks(doubled))["smallest mapping", "as printed"]


def test_the_figure_of_networks(curves):
    figure = supp_fig1.draw(curves["tanh"])
    (axis,) = figure.axes
    assert axis.get_title("left").startswith("synthetic images")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    modes = [f"mode {mode}" for mode in range(1, 5)]
    assert labels == ["AE", "WDAE", "DAE, σ² = 1", *modes]
    lines = [line for line in axis.lines if line.get_linestyle() != "None"]
    groups = curves["tanh"].groupby(["kind", "mode"], sort=False)
    for line, (_, curve) in zip(lines, groups, strict=True):
        shown = line.get_xdata()
        assert shown.tolist() == list(range(0, 2500, 100))
        drawn = curve.set_index("epoch")["mapping"][shown]
        np.testing.assert_array_equal(line.get_ydata(), drawn)


def test_the_authors_curves_are_drawn(curves):
    figure = supp_fig1.draw(published_curves(curves))
    (axis,) = figure.axes
    assert figure.legends[0].get_texts()[-1].get_text() == "the authors' curves"
    marks = [line for line in axis.lines if line.get_linestyle() == "None"]
    lines = [line for line in axis.lines if line.get_linestyle() == "-"]
    assert len(marks) == len(lines) == 12
    first = authors_curve("MNIST", "ae", np.arange(0, 2000, 100))[0]
    np.testing.assert_allclose(marks[0].get_ydata(), first)
    dotted = [line for line in axis.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 4
