"""The costs of Mult-VAE, Mult-DAE and CDAE, and their gradients."""

import numpy as np
import pytest

from support.networks import log_softmax, rows


def test_the_multinomial_cost_and_its_gradient(deep):
    x, logits = rows(), np.random.default_rng(3).normal(size=(9, 7)) * 3
    free = deep.torch.tensor(logits, requires_grad=True)
    cost = deep.networks.multinomial(free, x)
    dense, logs = x.toarray(), log_softmax(logits)
    assert cost.item() == pytest.approx(-(dense * logs).sum() / 9, rel=1e-6)
    cost.backward()
    expected = (dense.sum(axis=1, keepdims=True) * np.exp(logs) - dense) / 9
    np.testing.assert_allclose(free.grad.numpy(), expected, atol=1e-6)


def test_the_divergence_is_that_of_two_gaussians(deep):
    rng = np.random.default_rng(4)
    mean, log_variance = rng.normal(size=(2, 5, 3))
    tensors = [deep.torch.tensor(each, requires_grad=True) for each in (mean, log_variance)]
    divergence = deep.mult_vae.kl_divergence(*tensors)
    z = mean + np.exp(log_variance / 2) * rng.standard_normal((200_000, 5, 3))
    log_q = -((z - mean) ** 2) / np.exp(log_variance) / 2 - log_variance / 2
    sampled = (log_q + z**2 / 2).sum(axis=2).mean()
    assert divergence.item() == pytest.approx(sampled, rel=0.01)
    divergence.backward()
    np.testing.assert_allclose(tensors[0].grad.numpy(), mean / 5)
    np.testing.assert_allclose(tensors[1].grad.numpy(), (np.exp(log_variance) - 1) / 10)
    zero = deep.torch.zeros(2, 3)
    assert deep.mult_vae.kl_divergence(zero, zero).item() == 0


@pytest.mark.parametrize("cost", ["square", "logistic"])
def test_the_costs_of_cdae_weigh_zeros(deep, cost):
    x, logits = rows(), np.random.default_rng(5).normal(size=(9, 7))
    weights = np.random.default_rng(6).random(9)
    tensors = (deep.torch.tensor(each) for each in (logits, weights))
    found = getattr(deep.cdae, cost)(next(tensors), x, next(tensors)).item()
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
    weights = deep.cdae.sampled_zeros(x, 1.2).numpy()
    assert weights[0] == 0
    assert weights.max() == 1
    rare = weights < 1
    np.testing.assert_allclose((weights * (7 - entries))[rare], 1.2 * entries[rare], rtol=1e-6)
    assert np.all(deep.cdae.sampled_zeros(x, 7).numpy()[1:] == 1)
