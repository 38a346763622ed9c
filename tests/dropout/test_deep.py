"""The deep experiment of Pal 2020: the network, its training, and the figure's numbers."""

import os
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import UserError
from lindrop.dropout.dropblock import beta_at, optimum
from lindrop.dropout.samplers import dropblock
from lindrop.output.figures import plt
from lindrop.papers.pal2020.deep import (
    BLOCK,
    HIDDEN,
    KEEP,
    SCHEME,
    deep_table,
    targets,
)
from lindrop.papers.pal2020.figures import fig2

LABELS = np.array([3, 0, 3, 1, 2, 3, 1, 0, 4, 3])  # singular values of Y: 2, √2, √2, 1, 1
Y = targets(LABELS)
TINY = dropblock(24, 0.5, 3)


@pytest.fixture(scope="module")
def deep():
    """What needs PyTorch, and PyTorch."""
    torch = pytest.importorskip("torch", reason="needs PyTorch: make .venv/ready-deep")
    from lindrop.base import checkpoints
    from lindrop.dropout.deep import resnet, training

    return SimpleNamespace(torch=torch, checkpoints=checkpoints, resnet=resnet, training=training)


def settings(deep, **changed):
    usual = {"iterations": 40, "rate": 1e-2, "draws": 8, "seed": 1, "threads": 1}
    return deep.training.Settings(**(usual | changed))


def images(shape=(6, 6)):
    return np.random.default_rng(5).integers(0, 256, (len(LABELS), *shape), dtype=np.uint8)


class Counted:
    """A small network with batch normalisation that counts its passes, and may be killed."""

    def __init__(self, deep, killed_at=None):
        nn = deep.torch.nn
        deep.torch.manual_seed(3)
        layers = nn.Flatten(), nn.Linear(108, 16), nn.BatchNorm1d(16), nn.Linear(16, 24)
        self.net, self.passes, self.killed_at = nn.Sequential(*layers), 0, killed_at
        self.net.register_forward_pre_hook(self.count)

    def count(self, *_):
        self.passes += 1
        if self.passes == self.killed_at:
            raise KeyboardInterrupt


def run(deep, folder, network=None, source="", **changed):
    """A training of the small network, whose checkpoint is in `folder`."""
    return deep.training.train(
        (network or Counted(deep)).net,
        deep.resnet.inputs_of(images()),
        Y,
        TINY,
        settings(deep, **changed),
        folder / "checkpoint",
        {"data": source},
    )


def test_resnet_50_has_its_published_size_and_takes_small_images(deep):
    net = deep.resnet.resnet50(1000, seed=1)
    assert sum(weights.numel() for weights in net.parameters()) == 25_557_032
    for shape in ((28, 28), (3, 32, 32)):
        x = deep.resnet.inputs_of(images(shape)[:2])
        assert net(x).shape == (2, 1000)


def test_a_block_is_the_identity_where_its_branch_is_nothing(deep):
    block = deep.resnet.Bottleneck(64, 16, stride=1)
    x = deep.torch.rand(2, 64, 5, 5)
    deep.torch.nn.init.zeros_(block.bn3.weight)
    deep.torch.testing.assert_close(block(x), x)
    assert deep.resnet.Bottleneck(64, 16, stride=2)(x).shape == (2, 64, 3, 3)


def test_first_weights_depend_on_their_seed_alone(deep):
    before = deep.torch.get_rng_state()
    first, same, other = (deep.resnet.resnet50(5, seed).conv1.weight for seed in (1, 1, 2))
    assert deep.torch.equal(first, same)
    assert not deep.torch.equal(first, other)
    assert deep.torch.equal(before, deep.torch.get_rng_state())


def test_inputs_are_standardised_and_grey_is_three_colours(deep):
    for shape in ((6, 6), (3, 6, 6)):
        x = deep.resnet.inputs_of(images(shape)).double().numpy()
        np.testing.assert_allclose(x.mean((0, 2, 3)), np.zeros(3), atol=1e-6)
        np.testing.assert_allclose(x.std((0, 2, 3), ddof=1), np.ones(3), rtol=1e-6)
        assert np.array_equal(x[:, 0], x[:, 1]) == (len(shape) == 2)


def test_training_ends_at_the_optimum_of_theorem_2_7(deep, tmp_path):
    """The small network can have any g(X): all that its linear layers see is independent."""
    trained = run(deep, tmp_path, iterations=600, rate=3e-2, draws=64)
    sampled, expected = trained.losses.T
    best = optimum(Y, 3, beta_at(0.5, 3, 24))
    assert len(expected) == 601
    assert sampled[0] == expected[0] == len(LABELS), "U is zero at first"
    assert expected.min() >= best.value * (1 - 1e-9)
    assert expected[-1] < 1.01 * best.value
    np.testing.assert_allclose(trained.predictions, best.product, atol=0.05)
    factor = sampled / expected
    assert factor.mean() == pytest.approx(1, abs=5 * factor.std() / np.sqrt(len(factor)))


def test_without_dropout_training_fits_the_targets(deep, tmp_path):
    trained = deep.training.train(
        Counted(deep).net,
        deep.resnet.inputs_of(images()),
        Y,
        dropblock(24, 1.0, 3),
        settings(deep, iterations=300, rate=3e-2),
        tmp_path / "checkpoint",
        {},
    )
    np.testing.assert_allclose(trained.losses[:, 0], trained.losses[:, 1], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(trained.predictions, Y, atol=1e-3)


@pytest.mark.parametrize("killed_at", [2, 17, 41])
def test_a_killed_training_continues_and_ends_the_same(deep, tmp_path, monkeypatch, killed_at):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    whole = run(deep, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(deep, tmp_path, Counted(deep, killed_at))
    rest = Counted(deep)
    continued = run(deep, tmp_path, rest)
    assert rest.passes == 41 - (killed_at - 1)
    np.testing.assert_array_equal(continued.losses, whole.losses)
    np.testing.assert_array_equal(continued.predictions, whole.predictions)


def test_a_finished_training_needs_one_pass_to_be_read_again(deep, tmp_path, monkeypatch):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    whole, again = run(deep, tmp_path), Counted(deep)
    np.testing.assert_array_equal(run(deep, tmp_path, again).losses, whole.losses)
    assert again.passes == 1


@pytest.mark.parametrize("changed", [{"source": "other"}, {"rate": 2e-2}, {"iterations": 41}])
def test_a_checkpoint_of_another_training_is_not_continued(deep, tmp_path, monkeypatch, changed):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    run(deep, tmp_path)
    anew = run(deep, tmp_path, **changed)
    np.testing.assert_array_equal(anew.losses, run(deep, tmp_path / "fresh", **changed).losses)


def test_masks_depend_on_their_seed(deep, tmp_path):
    first, other = (run(deep, tmp_path, iterations=3, seed=seed).losses for seed in (1, 2))
    assert first[0, 0] == other[0, 0]
    assert first[1, 0] != other[1, 0]


def test_a_rate_that_is_too_large_is_named(deep, tmp_path):
    with pytest.raises(UserError, match=r"diverged at iteration \d+: set a smaller rate"):
        run(deep, tmp_path, rate=1e12)


class Evil:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


def test_what_is_no_checkpoint_is_refused_and_runs_nothing(deep, tmp_path):
    path, target = tmp_path / "checkpoint", tmp_path / "ran"
    deep.torch.save({"source": Evil(target)}, path)
    stored = path.read_bytes()
    for content in (stored, stored[:-30], b"", b"text", b"PK\3\4 and no more"):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"checkpoint: not a whole checkpoint; delete it"):
            run(deep, tmp_path)
    assert not target.exists()
    path.write_bytes(stored)
    deep.torch.load(path, weights_only=False)
    assert target.exists(), "as loading without restraint would have"


def test_a_checkpoint_with_a_flipped_bit_is_refused(deep, tmp_path):
    path, values = tmp_path / "checkpoint", deep.torch.arange(1000.0)
    deep.checkpoints.save(path, {"values": values}, {})
    stored = bytearray(path.read_bytes())
    stored[stored.index(values.numpy().tobytes()) + 1234] ^= 4
    path.write_bytes(stored)
    with pytest.raises(UserError, match=r"checkpoint: not a whole checkpoint; delete it"):
        deep.checkpoints.load(path, {})


def test_a_full_disk_leaves_the_last_checkpoint(deep, tmp_path, monkeypatch):
    path, state = tmp_path / "checkpoint", {"losses": [1.0]}
    deep.checkpoints.save(path, state, {})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(deep.torch, "save", full)
    with pytest.raises(OSError, match="No space left"):
        deep.checkpoints.save(path, {"losses": [1.0, 2.0]}, {})
    assert deep.checkpoints.load(path, {}) == state
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint"]


def test_resnet_50_itself_is_trained(deep, tmp_path):
    y = targets(LABELS)
    trained = deep.training.train(
        deep.resnet.resnet50(HIDDEN, seed=1),
        deep.resnet.inputs_of(images((28, 28))),
        y,
        SCHEME,
        settings(deep, iterations=12, rate=1e-3, draws=32),
        tmp_path / "checkpoint",
        {},
    )
    table = deep_table("noise", *trained, y)
    objective = table.loc[table["panel"] == "objective", "trained"]
    assert objective.iloc[0] == len(LABELS)
    assert objective.iloc[-1] < 0.5 * objective.iloc[0]
    assert fig2.checks(table)[0].holds


def perfect(excess=0.0):
    """A table of trainings that end at the optimum, or above it."""
    best = optimum(Y, BLOCK, beta_at(KEEP, BLOCK, HIDDEN))
    fall = best.value * (1 + excess + np.geomspace(1, 1e-4, 30))
    noise = np.resize([0.9, 1.1], len(fall))
    losses = np.column_stack((fall * noise, fall))
    tables = [deep_table(name, losses, best.product, Y) for name in ("MNIST", "CIFAR-10")]
    return pd.concat(tables, ignore_index=True), best


def test_the_table_holds_what_was_trained_beside_the_theory():
    table, best = perfect()
    assert list(table.columns) == ["dataset", "panel", "number", "sampled", "trained", "theory"]
    spectrum = table[(table["panel"] == "singular values") & (table["dataset"] == "MNIST")]
    assert len(spectrum) == 10
    np.testing.assert_allclose(spectrum["trained"], spectrum["theory"], atol=1e-12)
    np.testing.assert_allclose(spectrum["theory"], best.values)
    assert np.all(table.loc[table["panel"] == "objective", "theory"] == best.value)


def test_checks_hold_at_the_optimum_and_fail_where_they_should():
    table, best = perfect()
    checks = fig2.checks(table)
    assert len(checks) == 8
    assert {check.claim for check in checks} == {"fig2"}
    assert all(check.holds for check in checks)

    def failing(changed):
        return [check.what.partition(":")[2] for check in fig2.checks(changed) if not check.holds]

    assert all("last iterate" in what for what in failing(perfect(0.1)[0]))
    assert len(failing(perfect(0.1)[0])) == 2, "far above the bound"
    assert len(failing(perfect(-0.01)[0])) == 2, "below the bound"
    assert len(failing(table.assign(sampled=1.2 * table["sampled"]))) == 2
    spectrum = table["panel"] == "singular values"
    first = spectrum & (table["number"] == 0)
    assert len(failing(table.assign(trained=table["trained"].mask(first, 0)))) == 2
    last = spectrum & (table["number"] == 9)
    assert not failing(table.assign(trained=table["trained"].mask(last, best.values[0])))


def test_the_figure_has_a_row_for_every_dataset():
    figure = fig2.draw(perfect()[0])
    left, right = figure.axes[:2]
    assert len(figure.axes) == 4
    assert [axis.get_title("left") for axis in figure.axes] == ["MNIST"] * 2 + ["CIFAR-10"] * 2
    assert len(left.get_legend().get_texts()) == 3
    assert [len(line.get_xdata()) for line in right.lines] == [10, 10]
    plt.close(figure)


def test_targets_are_indicators_a_sample_by_column():
    assert Y.shape == (10, len(LABELS))
    np.testing.assert_array_equal(Y.argmax(axis=0), LABELS)
    np.testing.assert_array_equal(Y.sum(axis=0), 1)
