"""Pretorius 2018 on images: the sets, trainings that are killed, tables, checks and figures."""

import hashlib
import signal
import sys

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress
from lindrop.claims.checks import EXTENSION
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.data.synthetic.images import amplitudes, natural_images
from lindrop.papers.pretorius2018 import image_sets, networks, published
from lindrop.papers.pretorius2018.figures import images_linear, relu, supp_fig1
from lindrop.papers.pretorius2018.figures.images_linear import linear_curves
from lindrop.papers.pretorius2018.figures.supp_fig1 import authors_mapping, network_curves
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
from lindrop.papers.pretorius2018.published import (
    LINEAR as AUTHORS_LINEAR,
)
from lindrop.papers.pretorius2018.published import (
    LOSSES,
    SETTINGS,
    SOURCES,
    authors_curve,
    data_of,
)
from lindrop.store.images import read_images, write_images
from lindrop.store.training_run import read_run, resumed, write_run
from support import processes
from support.repository import REPOSITORY

SMALL = {"hidden": 24, "rate": 0.9, "epochs": 2500, "every": 25, "noise": 1.0, "decay": 0.002}
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


def test_fewer_images_than_asked_for_are_refused(tmp_path):
    """Reading the images fails, so that no experiment runs on fewer."""
    pixels, labels = np.zeros((6, 28, 28), np.uint8), np.zeros(6, np.uint8)
    write_images(tmp_path / "mnist.h5", pixels, labels, {})
    assert len(read_images(tmp_path / "mnist.h5", 6)[0]) == 6
    with pytest.raises(UserError, match="mnist: 7 images asked for, 6 are there; lower count"):
        read_images(tmp_path / "mnist.h5", 7)


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
        "wdae": (0, 0.002),
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
def test_the_curves_are_those_of_the_authors_files(images, kind):
    epochs = np.arange(0, 2000, 10)
    found = authors_curve(images, kind, epochs).T
    np.testing.assert_allclose(found[-1], ENDS[images, kind], atol=5e-5)
    assert np.isnan(authors_curve(images, kind, np.array([5, 2000]))).all()
    name = f"{images.lower().replace('-', '')}_relu_{FILES[kind]}.npy"
    file = REPOSITORY.parent / "shared" / "data" / "pretorius-curves" / name
    if not file.exists():
        pytest.skip("the authors' files are not here")
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


def test_generated_images_decide_nothing_and_others_the_shape(linear):
    found = images_linear.checks(linear)
    assert set(by_claim(found).values()) == {Verdict.NOT_RUN}
    claims = {"images_linear", "images_linear_ends", "images_linear_losses"}
    assert {check.claim for check in found} == claims

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


def test_a_run_is_stored_whole(images, tmp_path):
    run, source = trained(images, "tanh", "wdae", tmp_path, epochs=2, every=1)
    write_run(tmp_path / "run.h5", run, source)
    again, found = read_run(tmp_path / "run.h5")
    assert found == source
    assert (again.epoch, again.measured) == (2, run.measured)
    table = network_curves([(again, found)])
    assert table["epoch"].tolist() == [0, 1] * 4
