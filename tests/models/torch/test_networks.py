"""Mult-VAE, Mult-DAE and CDAE: what enters them, their losses and their scores."""

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.models.base import dropped
from lindrop.models.torch.memory import ACTIVATIONS, COPIES, training_bytes
from lindrop.models.torch.model import normalised
from support.networks import KINDS, log_softmax, rows


def network(deep, kind, items=7, users=9, p=0.0, decay=0.3, **changed):
    """A small one, without dropout unless asked for."""
    rng, common = np.random.default_rng(1), {"latent": 3, "p": p, "decay": decay}
    own = {
        "mult_vae": {"hidden": 5, "beta": 0.7, "anneal_steps": 10},
        "mult_dae": {"hidden": 5},
        "cdae": {"users": users, "negatives": 1.5, "cost": "square"},
    }[kind]
    networks = deep.mult_vae.MultVae, deep.mult_dae.MultDae, deep.cdae.Cdae
    return networks[KINDS.index(kind)](items, rng, **(common | own | changed))


def whole(deep, x, updates=4):
    return deep.networks.Batch(np.arange(x.shape[0]), x, updates)


def test_rows_enter_with_length_1_and_nobody_stays_nobody():
    x = rows()
    x.data *= 3
    length = np.linalg.norm(normalised(x).toarray(), axis=1)
    np.testing.assert_allclose(length, [0] + [1] * 8, rtol=1e-6)
    assert x.max() == 3


def test_the_divergence_is_weighed_up_to_the_cap(deep):
    annealed = deep.mult_vae.annealed
    assert [annealed(step, 10, 0.25) for step in (0, 1, 2, 3, 10, 99)] == [0, 0.1, 0.2] + [0.25] * 3
    assert annealed(0, 0, 0.25) == 0.25


def test_a_layer_reads_sparse_rows_as_dense_ones(deep):
    layer = deep.networks.Dense(7, 4, np.random.default_rng(0))
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
    layers = [layer for layer in net.modules() if isinstance(layer, deep.networks.Dense)]
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
    cost = deep.networks.multinomial(net.stack(entered), x) + 0.3 * net.stack.squares()
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
    assert activations == 4 * ACTIVATIONS[kind] * 11 * items
