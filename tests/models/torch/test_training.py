"""Mult-VAE, Mult-DAE and CDAE: their training, and what is kept of them."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base import digest
from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.stopwatch import NO_COST
from lindrop.models.base import Training
from lindrop.models.closed_form import fit_popularity
from lindrop.models.torch.model import Perceptron
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.store.model import read_model, write_model
from support.networks import KINDS
from support.repository import REPOSITORY

ITEMS, TASTES = 40, 4
SMALL = {"latent": 8, "batch": 50, "learning_rate": 1e-2, "threads": 1}


def users_with_tastes(users, rng):
    """Everybody likes a quarter of the items much more than the others; no item is popular."""
    taste = rng.integers(TASTES, size=users)
    likes = np.arange(ITEMS) % TASTES == taste[:, None]
    return sp.csr_array((rng.random((users, ITEMS)) < np.where(likes, 0.7, 0.05)).astype("f4"))


@pytest.fixture(scope="module")
def data():
    """Training users; fold-in and held-out items of others."""
    rng = np.random.default_rng(0)
    train, others = users_with_tastes(200, rng), users_with_tastes(60, rng).toarray()
    known = rng.random(others.shape) < 0.7
    parts = (sp.csr_array(others * known), sp.csr_array(others * ~known))
    return SimpleNamespace(train=train, parts=parts)


def fitted(deep, data, kind, checkpoint=None, seed=1, x=None, **changed):
    usual = SMALL | {"epochs": 6} | ({"hidden": 12} if kind == "mult_vae" else {})
    fit = getattr(getattr(deep, kind), f"fit_{kind}")
    training = replace(
        Training.of(data.train if x is None else x, seed),
        validation=deep.training.Validation(*data.parts),
        checkpoint=checkpoint,
    )
    return fit(training, **(usual | changed))


def ndcg(model, data):
    return summary(evaluate(model, *data.parts).per_user).loc["ndcg@100", "mean"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_tastes(deep, data, kind):
    result = fitted(deep, data, kind, epochs=25, **({"ridge": 0.01} if kind == "cdae" else {}))
    popular = ndcg(fit_popularity(Training.of(data.train)).model, data)
    assert ndcg(result.model, data) > 1.4 * popular
    assert result.history[-1]["loss"] < result.history[0]["loss"]


def test_the_best_epoch_is_kept_and_patience_ends_the_training(deep, data):
    result = fitted(deep, data, "mult_dae", epochs=300, patience=7, learning_rate=0.1)
    measured = [row["ndcg@100"] for row in result.history]
    best = int(np.argmax(measured)) + 1
    assert len(measured) == best + 7 < 300
    assert ndcg(result.model, data) == pytest.approx(measured[best - 1], abs=1e-6)
    assert measured[best - 1] > measured[-1]
    assert [row["epoch"] for row in result.history] == list(range(1, best + 8))
    assert result.converged


def test_what_patience_ended_is_at_rest_however_late(deep, data):
    result = fitted(deep, data, "mult_dae", epochs=300, patience=1, learning_rate=5e-3)
    assert 10 < len(result.history) < 300
    assert result.converged, "more epochs would change nothing"


@pytest.mark.parametrize(("epochs", "rests"), [(10, False), (40, True)])
def test_a_training_whose_last_epochs_are_the_best_is_not_at_rest(deep, data, epochs, rests):
    result = fitted(deep, data, "mult_dae", epochs=epochs, learning_rate=5e-3)
    best = 1 + int(np.argmax([row["ndcg@100"] for row in result.history]))
    assert len(result.history) == epochs
    assert result.converged == (best <= 0.9 * epochs) == rests


def same(one, other):
    assert one.history == other.history
    for name, part in one.model.parts().items():
        np.testing.assert_array_equal(part, other.model.parts()[name])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("killed_at", [3, 14])
def test_a_killed_training_continues_and_ends_the_same(
    deep, data, kind, killed_at, tmp_path, monkeypatch
):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    path, step, steps = tmp_path / "checkpoint", deep.training._Training._step, []

    def counted(training, batch, rng):
        steps.append(batch.updates)
        if len(steps) == killed_at:
            raise KeyboardInterrupt
        return step(training, batch, rng)

    uninterrupted = fitted(deep, data, kind)
    monkeypatch.setattr(deep.training._Training, "_step", counted)
    with pytest.raises(KeyboardInterrupt):
        fitted(deep, data, kind, path)
    continued = fitted(deep, data, kind, path)
    same(continued, uninterrupted)
    assert uninterrupted.earlier.seconds == 0
    assert (continued.earlier.seconds > 0) == (killed_at > 4), "a checkpoint follows an epoch"
    assert steps[killed_at:] == list(range(killed_at // 4 * 4, 24)), "four batches make an epoch"
    same(fitted(deep, data, kind, path), uninterrupted)
    assert len(steps) == killed_at + 24 - killed_at // 4 * 4, "what is finished is only read"


def test_a_finished_training_is_left_whole_and_told_of_with_what_it_took(
    deep, data, tmp_path, monkeypatch
):
    monkeypatch.setattr(deep.training, "peak_bytes", lambda: 1e12)
    first = fitted(deep, data, "mult_vae", tmp_path / "checkpoint", beta=1, p=0)
    monkeypatch.undo()
    again = fitted(deep, data, "mult_vae", tmp_path / "checkpoint", beta=1.0, p=0.0)
    same(again, first)
    assert first.earlier == NO_COST
    assert again.earlier.seconds > 0
    assert again.earlier.megabytes == 1e6


def test_a_checkpoint_of_another_training_is_not_continued(deep, data, tmp_path, monkeypatch):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    path = tmp_path / "checkpoint"
    fitted(deep, data, "mult_dae", path)
    fewer = data.train[:150]
    same(fitted(deep, data, "mult_dae", path, x=fewer), fitted(deep, data, "mult_dae", x=fewer))
    same(fitted(deep, data, "mult_dae", path, p=0.2), fitted(deep, data, "mult_dae", p=0.2))


@pytest.mark.parametrize(
    ("module", "continued"),
    [
        ("torch/networks.py", False),
        ("torch/fit.py", False),
        ("torch/mult_dae.py", False),
        ("models/base.py", False),
        ("torch/mult_vae.py", True),
        ("models/sampled.py", True),
        ("models/slim.py", True),
    ],
)
def test_a_checkpoint_of_other_code_is_not_continued(
    deep, data, module, continued, tmp_path, monkeypatch
):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    path, read = tmp_path / "checkpoint", Path.read_bytes
    before = fitted(deep, data, "mult_dae", path)

    def edited(file):
        return read(file) + b"\nEDITED = True\n" * str(file).endswith(module)

    monkeypatch.setattr(Path, "read_bytes", edited)
    # which knows a file by its time and size, and those are as before
    monkeypatch.setattr(digest, "_code_of", digest._code_of.__wrapped__)
    again = fitted(deep, data, "mult_dae", path)
    same(again, before)
    assert (again.earlier.seconds > 0) == continued


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_everything(deep, data, kind):
    before = deep.torch.get_rng_state()
    first = fitted(deep, data, kind, epochs=2)
    deep.torch.set_num_threads(3)  # what somebody else left is no matter
    same(fitted(deep, data, kind, epochs=2), first)
    other = fitted(deep, data, kind, epochs=2, seed=2)
    assert other.history != first.history
    assert deep.torch.equal(before, deep.torch.get_rng_state())


READ_WITHOUT = """
import sys
sys.modules["torch"] = None  # an import fails
from lindrop.store.model import read_model
print(read_model(sys.argv[1]).recommend(["i0", "i4", "i8", "unheard of"], k=3))
"""


def test_a_saved_model_recommends_without_pytorch(deep, data, tmp_path):
    path, items = tmp_path / "model.h5", np.array([f"i{k}" for k in range(ITEMS)], object)
    result = fitted(deep, data, "mult_vae", epochs=25)
    write_model(path, "mult_vae", result, items, {"beta": 0.2})
    saved = read_model(path)
    same(saved.fit, result)
    assert isinstance(saved.fit.model, Perceptron)
    done = subprocess.run(
        [sys.executable, "-c", READ_WITHOUT, path],
        env={"PYTHONPATH": str(REPOSITORY / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    recommended = saved.recommend(["i0", "i4", "i8"], k=3)
    assert done.stdout.strip() == str(recommended)
    assert {int(item[1:]) % TASTES for item in recommended} == {0}


@pytest.mark.parametrize(
    ("kind", "changed", "message"),
    [
        ("mult_vae", {"beta": -1}, "β = -1"),
        ("mult_dae", {"p": 1.0}, r"p = 1\.0"),
        ("mult_dae", {"hidden": -1}, "hidden = -1"),
        ("mult_dae", {"ridge": -1}, "λ = -1"),
        ("mult_dae", {"epochs": 0}, "'epochs': 0"),
        ("cdae", {"latent": 0}, "'latent': 0"),
        ("cdae", {"cost": "cubic"}, "cost 'cubic': must be one of square, logistic"),
        ("cdae", {"negatives": 0}, "0 negatives"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_line(deep, data, kind, changed, message):
    with pytest.raises(UserError, match=message):
        fitted(deep, data, kind, **changed)


def test_a_rate_that_is_too_large_is_named(deep, data):
    with pytest.raises(Unsolvable, match=r"diverged in epoch \d+: set a smaller learning rate"):
        fitted(deep, data, "mult_vae", learning_rate=1e6)


def test_validation_users_need_something_held_out(deep, data):
    nothing = SimpleNamespace(train=data.train, parts=(data.parts[0], 0 * data.parts[1]))
    nothing.parts[1].eliminate_zeros()
    with pytest.raises(UserError, match="no validation user has held-out items"):
        fitted(deep, nothing, "mult_dae")


GONE = """
import gc, weakref
from dataclasses import replace
import numpy as np
import scipy.sparse as sp
from lindrop.models.base import Training, Validation
from lindrop.models.torch import fit, mult_dae
gc.disable()
networks, train = [], fit.train
def watched(network, *rest):
    networks.append(weakref.ref(network))
    return train(network, *rest)
fit.train = watched
x = sp.csr_array(np.eye(20, dtype="f4"))
mult_dae.fit_mult_dae(replace(Training.of(x), validation=Validation(x, x)), epochs=1, latent=2)
assert [network() for network in networks] == [None]
"""


def test_the_first_training_of_a_process_is_not_kept_in_memory_beside_the_next_one(deep):
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "workflow")}
    subprocess.run([sys.executable, "-c", GONE], env=environment, check=True)
