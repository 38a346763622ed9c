"""Pretorius 2018 on images: the sets, trainings that are killed, tables, checks and figures."""

import signal
import sys

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress
from lindrop.claims.checks import CORRECTED
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.data.synthetic.images import amplitudes, natural_images
from lindrop.papers.pretorius2018 import image_sets, networks
from lindrop.papers.pretorius2018.figures import images_linear, relu, supp_fig1
from lindrop.papers.pretorius2018.figures.images_linear import linear_curves
from lindrop.papers.pretorius2018.figures.supp_fig1 import final_mapping, network_curves
from lindrop.papers.pretorius2018.image_sets import (
    published_set,
    read_image_set,
    synthetic_set,
    title,
    write_image_set,
)
from lindrop.papers.pretorius2018.kinds import kinds
from lindrop.papers.pretorius2018.learning import half_learned
from lindrop.papers.pretorius2018.networks import network, source_of, train
from lindrop.papers.pretorius2018.published import FINAL, SETTINGS, data_of
from lindrop.store.training_run import read_run, resumed, write_run
from support import processes
from support.repository import REPOSITORY

SMALL = {"hidden": 24, "rate": 0.9, "epochs": 2500, "every": 25, "noise": 1.0, "decay": 0.0045}
LINEAR = {"hidden": 64, "rate": 0.02, "epochs": 8000, "variance": 0.05, "decay": 0.05}


@pytest.fixture(scope="module")
def images():
    return synthetic_set(200, 12, 1)


def trained(images, activation, kind, folder, **settings):
    net = network(activation, kind, SMALL | settings, 2)
    source = source_of(images, kind, net, "code")
    return train(images, net, folder / "checkpoint.h5", source), source


@pytest.fixture(scope="module")
def curves(images, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {
        activation: network_curves(
            trained(images, activation, kind, folder) for kind in kinds(SMALL["noise"])
        )
        for activation in ("tanh", "relu")
    }


@pytest.fixture(scope="module")
def linear(images):
    return linear_curves(images, LINEAR, 3)


def verdicts(checks):
    return {(check.what.split(": ", 1)[1], check.form): check.holds for check in checks}


def by_claim(checks):
    return {
        claim: verdict([check for check in checks if check.claim == claim])
        for claim in dict.fromkeys(check.claim for check in checks)
    }


# Images


def test_synthetic_images_are_bytes_with_the_spectrum_of_natural_ones():
    found = natural_images(400, 16, np.random.default_rng(1))
    assert found.dtype == np.uint8
    assert found.shape == (400, 16, 16)
    x = found / 255
    assert x.mean() == pytest.approx(0.5, abs=0.02)
    assert x.std() == pytest.approx(0.24, abs=0.02)
    assert np.mean((found == 0) | (found == 255)) < 0.06
    np.testing.assert_array_equal(found, natural_images(400, 16, np.random.default_rng(1)))
    x = x - x.mean()
    rows, columns = np.mean(x[:, 4:] * x[:, :-4]), np.mean(x[:, :, 4:] * x[:, :, :-4])
    assert 0.5 * x.var() > columns > 1.1 * rows > 0.2 * x.var()


def test_amplitudes_fall_as_one_over_frequency():
    found = amplitudes(32)
    assert found[0, 0] == 0
    assert found[1, 0] / found[8, 0] == pytest.approx(8)
    assert found[0, 1] / found[0, 8] == pytest.approx(8)
    assert found[6, 0] == pytest.approx(found[0, 4])


def test_a_set_is_stored_with_its_spectrum(images, tmp_path, monkeypatch):
    x = images.x
    assert x.dtype == np.float32
    np.testing.assert_array_equal(np.rint(255 * x), images.pixels)
    np.testing.assert_allclose(images.values, np.linalg.eigvalsh(x.T @ x)[::-1], rtol=1e-3)
    leading = images.vectors.T @ (x.T @ x) @ images.vectors
    np.testing.assert_allclose(leading, np.diag(images.values[:4]), atol=1e-3 * images.values[3])
    monkeypatch.setattr(image_sets, "ROWS", 7)
    np.testing.assert_allclose(image_sets.second_moment(images.pixels), x.T @ x, rtol=1e-5)
    write_image_set(tmp_path / "images.h5", images)
    again = read_image_set(tmp_path / "images.h5")
    for one, other in zip(images, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_set_has_a_published_name_only_if_its_file_proves_it(monkeypatch):
    pixels = np.random.default_rng(1).integers(0, 256, (6, 28, 28)).astype(np.uint8)
    files = {"images": {"sha256": "a1"}, "labels": {"sha256": "b2"}}
    found = published_set("mnist", pixels, files, 5)
    np.testing.assert_array_equal(found.pixels, pixels[:5].reshape(5, -1))
    assert title(found.source) == "mnist (unverified), N = 5"
    assert found.source["sha256"] == "a1"
    monkeypatch.setitem(image_sets.PUBLISHED, "a1", "MNIST")
    assert title(published_set("x", pixels, files, 5).source) == "MNIST, N = 5"
    assert title(synthetic_set(5, 8, 1).source) == "synthetic images, N = 5"
    with pytest.raises(UserError, match="7 images asked for, 6 are there"):
        published_set("mnist", pixels, files, 7)


def test_only_the_authors_images_in_their_number_count_as_published():
    theirs = {"layout": "mnist", "published": "MNIST", "count": 50_000}
    assert data_of(theirs) == "published"
    assert data_of(theirs | {"count": 49_999}) == "other"
    assert data_of(theirs | {"published": "CIFAR-10"}) == "other"
    assert data_of(theirs | {"published": None}) == "other"
    assert data_of(theirs | {"layout": "synthetic", "published": None}) == "synthetic"


# Trainings


def test_the_networks_of_an_activation():
    assert kinds(2.0) == ["ae", "wdae", "dae", "dae_variance"]
    assert kinds(1.0) == ["ae", "wdae", "dae"]
    nets = {kind: network("relu", kind, SMALL | {"noise": 2.0}, 1) for kind in kinds(2.0)}
    assert {kind: (net.noise, net.decay) for kind, net in nets.items()} == {
        "ae": (0, 0),
        "wdae": (0, 0.0045),
        "dae": (2, 0),
        "dae_variance": (2**0.5, 0),
    }


KILL = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from lindrop.papers.pretorius2018 import networks
from lindrop.papers.pretorius2018.image_sets import read_image_set
from lindrop.base.reporting import Progress

class Deadly(Progress):
    def advance(self, amount):
        super().advance(amount)
        if self.done == 17:
            os.kill(os.getpid(), signal.SIGKILL)

networks.SAVED_EPOCHS, networks.SAVED_SECONDS = 5, float("inf")
folder = Path(sys.argv[1])
images = read_image_set(folder / "images.h5")
net = networks.network("relu", "dae", {settings}, 2)
source = networks.source_of(images, "dae", net, "code")
networks.train(images, net, folder / "checkpoint.h5", source, Deadly("", 30, unit="epochs"))
"""


def test_a_killed_training_continues_to_the_same_end(images, tmp_path):
    settings = SMALL | {"epochs": 30, "every": 4}
    write_image_set(tmp_path / "images.h5", images)
    code = KILL.replace("{settings}", repr(settings))
    killed = processes.run([sys.executable, "-c", code, tmp_path, REPOSITORY / "workflow"])
    assert killed.returncode == -signal.SIGKILL
    partial, _ = read_run(tmp_path / "checkpoint.h5")
    assert partial.epoch == 15

    (tmp_path / "other").mkdir()
    undisturbed, _ = trained(images, "relu", "dae", tmp_path / "other", **settings)
    net = network("relu", "dae", settings, 2)
    source = source_of(images, "dae", net, "code")
    progress = Progress("", 30, unit="epochs")
    continued = train(images, net, tmp_path / "checkpoint.h5", source, progress)
    assert (progress.offset, progress.done) == (15, 30)
    assert continued.epoch == undisturbed.epoch == 30
    assert continued.measured == undisturbed.measured
    assert [row[0] for row in continued.measured] == [0, 4, 8, 12, 16, 20, 24, 28]
    for one, other in zip(continued.weights, undisturbed.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_checkpoints_come_with_time_too_and_only_fit_their_training(images, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.h5"
    trained(images, "tanh", "ae", tmp_path, epochs=3)
    assert not path.exists()
    monkeypatch.setattr(networks, "SAVED_SECONDS", 0)
    run, source = trained(images, "tanh", "ae", tmp_path, epochs=3)
    found = resumed(path, source)
    assert found.epoch == 3
    np.testing.assert_array_equal(found.weights.w2, run.weights.w2)
    assert resumed(path, source | {"code": "other"}) is None
    again, _ = trained(images, "tanh", "ae", tmp_path, epochs=4)  # another training, from its start
    assert len(again.measured) == 1
    assert read_run(path)[0].epoch == 4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_rate_that_is_too_large_is_said_so(images, tmp_path):
    with pytest.raises(UserError, match=r"diverges.*rate of 400"):
        trained(images, "tanh", "ae", tmp_path, rate=400)
    with pytest.raises(UserError, match=r"diverges.*rate of 0\.2"):
        linear_curves(images, LINEAR | {"rate": 0.2}, 3)


# What the authors found


SETTINGS_OF_A_NETWORK = "hidden", "rate", "epochs", "every", "noise", "decay"
PAPER_IMAGES = {"published": "MNIST", "count": 50_000, "layout": "mnist", "name": "mnist"}


def test_the_authors_values_stand_beside_their_own_training_only():
    for kind in kinds(2.0):
        net = network("relu", kind, SETTINGS["MNIST"], 9)
        theirs = FINAL["MNIST"]["dae" if kind == "dae_variance" else kind]
        assert final_mapping(PAPER_IMAGES, kind, net) == theirs
        others = [
            net._replace(activation="tanh"),
            *(net._replace(**{name: getattr(net, name) + 1}) for name in SETTINGS_OF_A_NETWORK),
        ]
        for other in others:
            assert np.isnan(final_mapping(PAPER_IMAGES, kind, other)).all()
        for facts in ({"published": None}, {"published": "CIFAR-10"}, {"count": 49_999}):
            assert np.isnan(final_mapping(PAPER_IMAGES | facts, kind, net)).all()


def published_curves(curves):
    """Ours, as if they had been trained as the authors' and ended as theirs."""
    table = curves["relu"]
    both = pd.concat([table, table[table["kind"] == "dae"].assign(kind="dae_variance")])
    theirs = both["kind"].replace("dae_variance", "dae").map(FINAL["MNIST"])
    paper = [values[mode - 1] for values, mode in zip(theirs, both["mode"], strict=True)]
    shift = np.where(both["kind"] == "dae_variance", 0.1, 0.01)
    return both.assign(
        data="published",
        paper=paper,
        mapping=np.array(paper) + shift,
        clean=np.array(paper) - 0.2,
    )


OF_AUTHORS = {
    "relu_ends": Verdict.REPRODUCED,
    "relu_noise": Verdict.CORRECTED,
    "relu_inputs": Verdict.CORRECTED,
}


def test_checks_tell_which_noise_and_which_inputs_give_the_authors_values(curves):
    table = published_curves(curves)
    found = relu.checks(table)
    assert {claim: by_claim(found)[claim] for claim in OF_AUTHORS} == OF_AUTHORS
    wrong = [check.what.split("; ")[1] for check in found if "; " in check.what and not check.holds]
    assert wrong == ["DAE, noise of variance 2 (text)", "DAE, reconstructions of images"]
    far = relu.checks(table.assign(mapping=table["mapping"] + 0.1))
    assert {by_claim(far)[claim] for claim in OF_AUTHORS} == {Verdict.REFUTED}


def test_another_training_says_nothing_of_the_authors_values(curves):
    table = published_curves(curves)
    for other in (curves["relu"], table.assign(paper=np.nan)):
        found = by_claim(relu.checks(other))
        assert {found[claim] for claim in OF_AUTHORS} == {Verdict.NOT_RUN}
    assert not set(OF_AUTHORS) & set(by_claim(supp_fig1.checks(curves["tanh"])))


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


def test_generated_images_decide_nothing_and_others_the_shape(linear):
    found = images_linear.checks(linear)
    assert set(by_claim(found).values()) == {Verdict.NOT_RUN}
    assert {check.claim for check in found} == {"images_linear", "images_linear_ends"}

    def verdict_of(data):
        return by_claim(images_linear.checks(linear.assign(data=data)))["images_linear_ends"]

    for data, ends in (("other", Verdict.IN_SHAPE), ("published", Verdict.REPRODUCED)):
        assert verdict_of(data) == ends


# Tables, checks and figures


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
        assert len(of_figure) == 4
        assert all(check.holds for check in of_figure)
        assert {check.data for check in checks} == {"synthetic"}
    swapped = curves["relu"].replace({"kind": {"dae": "wdae", "wdae": "dae"}})
    failed = [what for (what, _), held in verdicts(relu.checks(swapped)).items() if not held]
    assert any("DAE / WDAE" in what for what in failed)
    found = verdicts(relu.checks(curves["relu"]))
    assert found["smallest mapping", "as printed"]
    doubled = curves["relu"].assign(mapping=-2 * curves["relu"]["mapping"])
    assert not verdicts(relu.checks(doubled))["smallest mapping", "as printed"]


def test_linear_networks_follow_the_theory_and_in_their_first_steps_its_steps(linear):
    assert linear.groupby(["kind", "mode"]).ngroups == 15
    found = verdicts(images_linear.checks(linear))
    assert len(found) == 3
    assert all(held for (_, form), held in found.items() if form == CORRECTED)
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
    form = "as printed" if column == "theory" else "corrected"
    held = [
        check.holds
        for check in images_linear.checks(late)
        if "half" in check.what and check.form == form
    ]
    assert held == [False]
    other = linear.assign(simulated=0.95 * linear["simulated"])
    assert not images_linear.checks(other)[0].holds


def test_the_figure_of_linear_networks(linear):
    both = pd.concat([linear, linear.assign(images="others")])
    axes = images_linear.draw(both).axes
    assert [axis.get_title("left").split(": ")[1] for axis in axes] == ["weight decay", "noise"] * 2
    for axis, kind in zip(axes, ("wdae", "dae") * 2, strict=True):
        labels = [text.get_text() for text in axis.get_legend().get_texts()]
        name = kind.upper()
        assert labels == ["AE, theory", "AE, network", f"{name}, theory", f"{name}, network"]
        curve = linear[(linear["kind"] == kind) & (linear["mode"] == 1)]
        np.testing.assert_array_equal(axis.lines[10].get_ydata(), curve["theory"])
        np.testing.assert_array_equal(axis.lines[11].get_ydata(), curve["simulated"])


def test_the_figure_of_networks(curves):
    (axis,) = supp_fig1.draw(curves["tanh"]).axes
    assert axis.get_title("left").startswith("synthetic images")
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["AE", "WDAE", "DAE, σ² = 1"]
    lines = [line for line in axis.lines if len(line.get_xdata()) > 1]
    drawn = [line.get_ydata() for line in lines]
    for values, (_, curve) in zip(
        drawn, curves["tanh"].groupby(["kind", "mode"], sort=False), strict=True
    ):
        np.testing.assert_array_equal(values, curve["mapping"])


def test_the_authors_values_are_marked(curves):
    (axis,) = supp_fig1.draw(published_curves(curves)).axes
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["AE", "WDAE", "DAE, σ² = 1", "DAE, σ² = 1", "the authors' last values"]
    marks = [line.get_ydata()[0] for line in axis.lines if len(line.get_xdata()) == 1]
    assert marks == [value for kind in ("ae", "wdae", "dae") for value in FINAL["MNIST"][kind]]
    dotted = [line for line in axis.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 4


def test_a_run_is_stored_whole(images, tmp_path):
    run, source = trained(images, "tanh", "wdae", tmp_path, epochs=2, every=1)
    write_run(tmp_path / "run.h5", run, source)
    again, found = read_run(tmp_path / "run.h5")
    assert found == source
    assert (again.epoch, again.measured) == (2, run.measured)
    table = network_curves([(again, found)])
    assert table["epoch"].tolist() == [0, 1] * 4
