"""Mult-VAE, Mult-DAE and CDAE: their costs, their training, and what is kept of them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.cost import NO_COST
from lindrop.base.errors import Unsolvable, UserError
from lindrop.models.base import Training
from lindrop.models.popularity import fit_popularity
from lindrop.models.sampled import dropped
from lindrop.models.torch.memory import ACTIVATIONS, COPIES, training_bytes
from lindrop.models.torch.model import Perceptron, normalised
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.store.model import read_model, write_model
from support.repository import REPOSITORY

ITEMS, TASTES = 40, 4
KINDS = ("mult_vae", "mult_dae", "cdae")
SMALL = {"latent": 8, "batch": 50, "learning_rate": 1e-2, "threads": 1}


@pytest.fixture(scope="module")
def deep():
    """What needs PyTorch, and PyTorch."""
    torch = pytest.importorskip("torch", reason="needs PyTorch: make .venv/ready-deep")
    from lindrop.models.torch import fit, layers, losses, networks, training

    modules = {"fit": fit, "layers": layers, "losses": losses, "networks": networks}
    return SimpleNamespace(torch=torch, training=training, **modules)


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
    fit = getattr(deep.fit, f"fit_{kind}")
    training = replace(
        Training.of(data.train if x is None else x, seed),
        validation=deep.training.Validation(*data.parts),
        checkpoint=checkpoint,
    )
    return fit(training, **(usual | changed))


def ndcg(model, data):
    return summary(evaluate(model, *data.parts)).loc["ndcg@100", "mean"]


def network(deep, kind, items=7, users=9, p=0.0, decay=0.3, **changed):
    """A small one, without dropout unless asked for."""
    rng, common = np.random.default_rng(1), {"latent": 3, "p": p, "decay": decay}
    own = {
        "mult_vae": {"hidden": 5, "beta": 0.7, "anneal_steps": 10},
        "mult_dae": {"hidden": 5},
        "cdae": {"users": users, "negatives": 1.5, "cost": "square"},
    }[kind]
    networks = deep.networks.MultVae, deep.networks.MultDae, deep.networks.Cdae
    return networks[KINDS.index(kind)](items, rng, **(common | own | changed))


def rows(users=9):
    """Of which the first is empty, the second almost full and none else empty."""
    x = np.random.default_rng(2).random((users, 7)) < 0.4
    x[np.arange(users), np.arange(users) % 7] = True
    x[0], x[1, 1:] = False, True
    return sp.csr_array(x.astype(np.float32))


def whole(deep, x, updates=4):
    return deep.networks.Batch(np.arange(x.shape[0]), x, updates)


def log_softmax(logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def test_the_multinomial_cost_and_its_gradient(deep):
    x, logits = rows(), np.random.default_rng(3).normal(size=(9, 7)) * 3
    free = deep.torch.tensor(logits, requires_grad=True)
    cost = deep.losses.multinomial(free, x)
    dense, logs = x.toarray(), log_softmax(logits)
    assert cost.item() == pytest.approx(-(dense * logs).sum() / 9, rel=1e-6)
    cost.backward()
    expected = (dense.sum(axis=1, keepdims=True) * np.exp(logs) - dense) / 9
    np.testing.assert_allclose(free.grad.numpy(), expected, atol=1e-6)


def test_the_divergence_is_that_of_two_gaussians(deep):
    rng = np.random.default_rng(4)
    mean, log_variance = rng.normal(size=(2, 5, 3))
    tensors = [deep.torch.tensor(each, requires_grad=True) for each in (mean, log_variance)]
    divergence = deep.losses.kl_divergence(*tensors)
    z = mean + np.exp(log_variance / 2) * rng.standard_normal((200_000, 5, 3))
    log_q = -((z - mean) ** 2) / np.exp(log_variance) / 2 - log_variance / 2
    sampled = (log_q + z**2 / 2).sum(axis=2).mean()
    assert divergence.item() == pytest.approx(sampled, rel=0.01)
    divergence.backward()
    np.testing.assert_allclose(tensors[0].grad.numpy(), mean / 5)
    np.testing.assert_allclose(tensors[1].grad.numpy(), (np.exp(log_variance) - 1) / 10)
    zero = deep.torch.zeros(2, 3)
    assert deep.losses.kl_divergence(zero, zero).item() == 0


@pytest.mark.parametrize("cost", ["square", "logistic"])
def test_the_costs_of_cdae_weigh_zeros(deep, cost):
    x, logits = rows(), np.random.default_rng(5).normal(size=(9, 7))
    weights = np.random.default_rng(6).random(9)
    tensors = (deep.torch.tensor(each) for each in (logits, weights))
    found = getattr(deep.losses, cost)(next(tensors), x, next(tensors)).item()
    dense = x.toarray()
    sigmoid = 1 / (1 + np.exp(-logits))
    each = {
        "square": (dense - np.tanh(logits)) ** 2,
        "logistic": -(dense * np.log(sigmoid) + (1 - dense) * np.log(1 - sigmoid)),
    }[cost]
    assert found == pytest.approx((np.where(dense > 0, 1, weights[:, None]) * each).sum() / 9)


def test_weights_of_zeros_are_the_expectation_of_sampling_them(deep):
    x = rows()
    entries = np.diff(x.indptr)
    weights = deep.losses.sampled_zeros(x, 1.2).numpy()
    assert weights[0] == 0
    assert weights.max() == 1
    rare = weights < 1
    np.testing.assert_allclose((weights * (7 - entries))[rare], 1.2 * entries[rare], rtol=1e-6)
    assert np.all(deep.losses.sampled_zeros(x, 7).numpy()[1:] == 1)


def test_rows_enter_with_length_1_and_nobody_stays_nobody():
    x = rows()
    x.data *= 3
    length = np.linalg.norm(normalised(x).toarray(), axis=1)
    np.testing.assert_allclose(length, [0] + [1] * 8, rtol=1e-6)
    assert x.max() == 3


def test_the_divergence_is_weighed_up_to_the_cap(deep):
    annealed = deep.networks.annealed
    assert [annealed(step, 10, 0.25) for step in (0, 1, 2, 3, 10, 99)] == [0, 0.1, 0.2] + [0.25] * 3
    assert annealed(0, 0, 0.25) == 0.25


def test_a_layer_reads_sparse_rows_as_dense_ones(deep):
    layer = deep.layers.Dense(7, 4, np.random.default_rng(0))
    found = []
    for x in (rows(), deep.torch.from_numpy(rows().toarray())):
        layer.zero_grad()
        out = layer(x)
        (out**2).sum().backward()
        found.append((out.detach().numpy(), layer.weights.grad.numpy().copy()))
    for sparse, dense in zip(*found, strict=True):
        np.testing.assert_allclose(sparse, dense, atol=1e-6)


@pytest.mark.parametrize("hidden", [0, 5])
def test_the_loss_of_mult_dae(deep, hidden):
    net, x = network(deep, "mult_dae", hidden=hidden), rows()
    assert len(net.stack.arrays()) == (4 if hidden else 2)
    cost = -(x.toarray() * log_softmax(net.perceptron().scores(x))).sum() / 9
    penalty = sum((weights**2).sum() for weights, _ in net.stack.arrays())
    loss = net.loss(whole(deep, x), np.random.default_rng(0)).item()
    assert loss == pytest.approx(cost + 0.3 * penalty, rel=1e-5)


def test_the_loss_of_mult_vae(deep):
    net, x = network(deep, "mult_vae", decay=0.0), rows()
    (w1, b1), (w2, b2) = net.encoder.arrays()
    moments = np.tanh(normalised(x) @ w1 + b1) @ w2 + b2
    mean, log_variance = moments[:, :3], moments[:, 3:]
    noise = np.random.default_rng(8)
    noise.random(x.nnz, dtype=np.float32)  # dropout's, which keeps all
    z = mean + np.exp(log_variance / 2) * noise.standard_normal(mean.shape, np.float32)
    (w3, b3), (w4, b4) = net.decoder.arrays()
    logits = np.tanh(z @ w3 + b3) @ w4 + b4
    divergence = (np.exp(log_variance) + mean**2 - 1 - log_variance).sum() / 18
    expected = -(x.toarray() * log_softmax(logits)).sum() / 9 + 0.4 * divergence
    loss = net.loss(whole(deep, x, updates=4), np.random.default_rng(8)).item()
    assert loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_is_of_the_input_alone_and_keeps_its_mean(deep, kind):
    masks, x, entered = 3000, rows(), {}
    many = sp.csr_array(sp.vstack([x] * masks))
    net = network(deep, kind, users=many.shape[0], p=0.4)
    layers = [layer for layer in net.modules() if isinstance(layer, deep.layers.Dense)]
    for number, layer in enumerate(layers):
        layer.register_forward_pre_hook(
            lambda _, inputs, number=number: entered.update({number: inputs[0]})
        )
    net.loss(whole(deep, many), np.random.default_rng(0))
    undropped = (x if kind == "cdae" else normalised(x)).toarray()
    found = entered.pop(0).toarray().reshape(masks, *x.shape)
    assert np.all((found == 0) | np.isclose(found, undropped / 0.6))
    error = np.sqrt(0.4 / 0.6 / masks)  # of the mean of an entry that is 1
    np.testing.assert_allclose(found.mean(axis=0), undropped, atol=5 * error)
    assert len(entered) == len(layers) - 1
    assert all((inner != 0).all() for inner in entered.values()), "dropped further on"


def test_what_is_dropped_is_to_be_predicted_all_the_same(deep):
    net, x = network(deep, "mult_dae", p=0.5), rows()
    entered = dropped(normalised(x), 0.5, np.random.default_rng(0))
    cost = deep.losses.multinomial(net.stack(entered), x) + 0.3 * net.stack.squares()
    found = net.loss(whole(deep, x), np.random.default_rng(0))
    assert found.item() == pytest.approx(cost.item(), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_without_pytorch_are_those_with_it(deep, kind):
    net, x = network(deep, kind), rows()
    np.testing.assert_allclose(net.perceptron().scores(x), net.scores(x), atol=1e-6)
    assert net.scores(x).std() > 0.01


def test_cdae_scores_a_held_out_user_with_the_mean_vector(deep):
    net, x = network(deep, "cdae"), rows()
    scores = net.scores(x)
    vectors = net.vectors.detach().numpy()
    (w1, b1), (w2, b2) = *net.encoder.arrays(), *net.decoder.arrays()
    np.testing.assert_allclose(
        scores, np.tanh(x @ w1 + b1 + vectors.mean(axis=0)) @ w2 + b2, atol=1e-6
    )
    before = net.loss(whole(deep, x), np.random.default_rng(0)).item()
    net.decay = 0.0
    free = net.loss(whole(deep, x), np.random.default_rng(0)).item()
    assert before == pytest.approx(
        free + 0.3 * sum((each**2).sum() for each in (w1, w2, vectors)), rel=1e-5
    )
    with deep.torch.no_grad():
        net.vectors += 0.5
        net.encoder.layers[0].bias -= 0.5
    assert net.loss(whole(deep, x), np.random.default_rng(0)).item() == pytest.approx(free, 1e-5)
    np.testing.assert_allclose(net.scores(x), scores, atol=1e-5)


def test_penalised_vectors_have_the_mean_0_where_the_bias_is_at_rest(deep):
    """Their gradients add up to the bias's and the penalty's: at an optimum only that is left."""
    net, x = network(deep, "cdae"), rows()
    deep.torch.autograd.backward(net.loss(whole(deep, x), np.random.default_rng(0)))
    of_bias = net.encoder.layers[0].bias.grad
    penalty = 2 * 0.3 * net.vectors.detach().sum(0)
    deep.torch.testing.assert_close(net.vectors.grad.sum(0), of_bias + penalty)


@pytest.mark.parametrize(
    ("kind", "hidden"),
    [("cdae", 0), ("mult_vae", 0), ("mult_vae", 5), ("mult_dae", 0), ("mult_dae", 5)],
)
@pytest.mark.parametrize(("items", "users", "latent"), [(7, 9, 3), (7, 2, 8), (30, 9, 5)])
def test_memory_is_asked_for_every_parameter(deep, kind, hidden, items, users, latent):
    own = {} if kind == "cdae" else {"hidden": hidden}
    net = network(deep, kind, items=items, users=users, latent=latent, **own)
    numbers = sum(each.numel() for each in net.parameters())
    asked = training_bytes(kind, items, users, 0, latent, hidden)
    assert asked == 4 * COPIES * numbers
    activations = training_bytes(kind, items, users, 11, latent, hidden) - asked
    assert activations == 4 * ACTIVATIONS * 11 * items


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
        ("torch/losses.py", False),
        ("torch/fit.py", False),
        ("models/sampled.py", False),
        ("slim/coordinates.py", True),
    ],
)
def test_a_checkpoint_of_other_code_is_not_continued(
    deep, data, module, continued, tmp_path, monkeypatch
):
    monkeypatch.setattr(deep.training, "SAVED_SECONDS", 0)
    path, read = tmp_path / "checkpoint", Path.read_bytes
    before = fitted(deep, data, "mult_dae", path)

    def mended(file):
        return read(file) + b"\nMENDED = True\n" * str(file).endswith(module)

    monkeypatch.setattr(Path, "read_bytes", mended)
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
