"""Linear and nonlinear autoencoders: gradients, exactness, and what a run must not depend on."""

from itertools import product

import numpy as np
import pytest

from lindrop.dropout.autoencoders import linear, nonlinear
from lindrop.dropout.autoencoders.nonlinear import Modes, Noise, fill_normal, full_pass, mapping
from lindrop.dropout.autoencoders.training import Network, begin, descend, noise_of
from lindrop.dropout.autoencoders.weights import Weights, normal_weights
from lindrop.dropout.dynamics.descent import gradient_descent
from lindrop.dropout.dynamics.loss import expected_loss
from lindrop.dropout.dynamics.modes import Mode
from lindrop.dropout.dynamics.trajectories import trajectory

SAMPLES, INPUTS, HIDDEN = 40, 7, 3
NETWORK = Network("relu", HIDDEN, 0.5, 6, every=2, noise=0.7, decay=0.01, seed=3)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def weights(rng):
    return normal_weights(INPUTS, HIDDEN, 0.5, rng, float)


@pytest.fixture
def x(rng):
    return rng.random((SAMPLES, INPUTS))


def modes_of(x):
    values, vectors = np.linalg.eigh(x.T @ x)
    return values[::-1], Modes.of(x, vectors[:, :-5:-1])


def numerical(loss, weights, step=1e-6):
    """The gradient by central differences, one weight after the other."""
    slopes = Weights(*map(np.zeros_like, weights))
    for weight, slope in zip(weights, slopes, strict=True):
        for place in np.ndindex(weight.shape):
            value = weight[place]
            ends = []
            for shift in (step, -step):
                weight[place] = value + shift
                ends.append(loss())
            weight[place] = value
            slope[place] = (ends[0] - ends[1]) / (2 * step)
    return slopes


def assert_close(found, expected, rtol):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(other).max())


def changed(weights, rng):
    """Other weights, for what is wrong."""
    return Weights(*(weight + 0.01 * rng.normal(size=weight.shape) for weight in weights))


# Noise


def normal_rows(rows, columns, rng, deviation=1.0):
    out = np.empty((rows, columns), np.float32)
    fill_normal(out, deviation, rng)
    return out


def test_the_noise_is_standard_normal_and_independent():
    drawn = normal_rows(40_000, 50, np.random.default_rng(1))
    count = drawn.size
    moments = [np.mean(drawn.astype(float) ** k) for k in range(1, 7)]
    errors = np.sqrt(np.array([1, 2, 15, 96, 945, 10_170]) / count)  # of N(0, 1)
    assert np.all(np.abs(np.array(moments) - [0, 1, 0, 3, 0, 15]) < 5 * errors)
    together = np.corrcoef(drawn.T) - np.eye(50)
    squares = np.corrcoef((drawn**2).T) - np.eye(50)
    assert max(np.abs(together).max(), np.abs(squares).max()) < 5 / np.sqrt(len(drawn))
    assert np.abs(np.corrcoef(drawn[1:].ravel(), drawn[:-1].ravel())[0, 1]) < 5 / np.sqrt(count)
    below = [np.mean(drawn < at) for at in (-2, -1, 0, 1, 2)]
    np.testing.assert_allclose(below, [0.02275, 0.15866, 0.5, 0.84134, 0.97725], atol=2e-3)


def test_noise_is_finite_whatever_the_bits():
    class Extreme:
        def integers(self, low, high, shape):
            bits = [0, -(2**31), 2**31 - 1, -1]
            pairs = np.array(list(product(bits, repeat=2)), np.int32).view(np.int64)
            return np.resize(pairs, shape)

    drawn = normal_rows(16, 2, Extreme())
    assert np.isfinite(drawn).all()
    assert 6.5 < np.abs(drawn).max() < 6.8


@pytest.mark.parametrize("columns", [6, 7])
def test_rows_of_noise_do_not_depend_on_how_many_are_drawn_at_once(columns, monkeypatch):
    whole = normal_rows(10, columns, np.random.default_rng(2))
    rng = np.random.default_rng(2)
    pieces = np.concatenate([normal_rows(rows, columns, rng) for rows in (1, 6, 3)])
    np.testing.assert_array_equal(whole, pieces)
    monkeypatch.setattr(nonlinear, "AT_ONCE", 15)
    np.testing.assert_array_equal(whole, normal_rows(10, columns, np.random.default_rng(2)))


def test_the_deviation_of_noise():
    one, three = (normal_rows(50, 6, np.random.default_rng(2), each) for each in (1.0, 3.0))
    np.testing.assert_allclose(three, 3 * one, rtol=1e-5)


# Networks with tanh or ReLU


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("deviation", [0.0, 0.7])
def test_the_gradient_of_a_pass_is_that_of_its_loss(activation, deviation, x, weights, rng):
    _, modes = modes_of(x)

    def passed(of=weights):
        noise = Noise(deviation, np.random.default_rng(5)) if deviation else None
        return full_pass(x, of, activation, modes, noise)

    expected = numerical(lambda: passed().loss, weights)
    assert_close(passed().gradient, expected, 1e-6)
    with pytest.raises(AssertionError):
        assert_close(passed(changed(weights, rng)).gradient, expected, 1e-6)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_loss_and_mapping_are_those_of_the_reconstructions(activation, x, weights):
    """Section F, with matrices in full."""
    values, modes = modes_of(x)
    hidden = x @ weights.w1.T
    hidden = np.tanh(hidden) if activation == "tanh" else hidden * (hidden > 0)
    reconstructed = hidden @ weights.w2.T
    found = full_pass(x, weights, activation, modes)
    assert found.loss == pytest.approx(np.mean((x - reconstructed) ** 2), rel=1e-12)
    estimated = np.diag(modes.vectors.T @ x.T @ reconstructed @ modes.vectors)
    np.testing.assert_allclose(found.mapping, estimated / values[:4], rtol=1e-10)
    np.testing.assert_allclose(mapping(x, weights, activation, modes), found.mapping, rtol=1e-12)


def test_perfect_reconstructions_have_the_mapping_one(x):
    _, modes = modes_of(x)
    both_signs = Weights(np.vstack([np.eye(INPUTS), -np.eye(INPUTS)]), np.eye(INPUTS, 2 * INPUTS))
    found = full_pass(x, both_signs, "relu", modes)
    np.testing.assert_allclose(found.mapping, 1, rtol=1e-12)
    assert found.loss == pytest.approx(0, abs=1e-25)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_blocks_do_not_matter_beyond_rounding(activation, x, weights, monkeypatch):
    """The noise is the same, too."""
    x, weights = x.astype(np.float32), Weights(*(each.astype(np.float32) for each in weights))
    _, modes = modes_of(x)
    passes = []
    for rows in (512, 9, 1):
        monkeypatch.setattr(nonlinear, "ROWS", rows)
        noise = Noise(0.7, np.random.default_rng(5))
        passes.append(full_pass(x, weights, activation, modes, noise))
    for other in passes[1:]:
        assert other.loss == pytest.approx(passes[0].loss, rel=1e-6)
        assert_close(other.gradient, passes[0].gradient, 1e-5)
        np.testing.assert_allclose(other.mapping, passes[0].mapping, rtol=1e-5)


def test_a_step_goes_down_the_gradient_with_the_penalty(x):
    """The gradient is that of the loss and of the penalty (γ/2)(‖W₁‖² + ‖W₂‖²)."""
    _, modes = modes_of(x)
    network = NETWORK._replace(activation="tanh")  # a ReLU bends too close to small weights
    run, weights = begin(INPUTS, network, float), begin(INPUTS, network, float).weights

    def penalised():
        loss = full_pass(x, weights, "tanh", modes, noise_of(network, 0)).loss
        return loss + network.decay / 2 * sum(np.sum(weight**2) for weight in weights)

    expected = numerical(penalised, weights, 1e-5)
    next(descend(run, x, modes, network))
    steps = [(old - new) / network.rate for old, new in zip(weights, run.weights, strict=True)]
    assert_close(steps, expected, 1e-5)


def test_training_lowers_the_loss_and_measures_before_a_step(x):
    _, modes = modes_of(x)
    plain = NETWORK._replace(noise=0.0, decay=0.0, epochs=400, every=100)
    run = begin(INPUTS, plain, float)
    list(descend(run, x, modes, plain))
    assert [row[0] for row in run.measured] == [0, 100, 200, 300]
    first, *_, last = (row[1] for row in run.measured)
    assert first == pytest.approx(np.mean(x**2), rel=1e-4)
    assert last < first / 3
    for row in run.measured:
        np.testing.assert_array_equal(row[2:6], row[6:10])


def test_noise_differs_by_epoch_and_seed_alone_and_is_not_in_the_clean_mapping(x):
    _, modes = modes_of(x)
    draws = [
        noise_of(NETWORK._replace(seed=seed), epoch).add(x, np.empty_like(x))
        for seed, epoch in ((3, 0), (3, 1), (4, 0), (3, 0))
    ]
    np.testing.assert_array_equal(draws[0], draws[3])
    assert not np.allclose(draws[0], draws[1])
    assert not np.allclose(draws[0], draws[2])
    assert np.std(draws[0] - x) == pytest.approx(0.7, abs=0.1)
    run = begin(INPUTS, NETWORK, float)
    next(descend(run, x, modes, NETWORK))
    start = begin(INPUTS, NETWORK, float).weights
    np.testing.assert_allclose(run.measured[0][6:], mapping(x, start, "relu", modes), rtol=1e-12)
    assert not np.allclose(run.measured[0][2:6], run.measured[0][6:])


def test_networks_of_one_seed_start_alike():
    one, other = (begin(INPUTS, NETWORK._replace(noise=noise)).weights for noise in (0.0, 2.0))
    np.testing.assert_array_equal(one.w1, other.w1)
    assert one.w1.dtype == np.float32
    assert not np.array_equal(one.w1, begin(INPUTS, NETWORK._replace(seed=4)).weights.w1)


# Linear networks

STRENGTHS = [(0.0, 0.0), (0.3, 0.0), (0.0, 0.2), (0.3, 0.2)]  # s² and γ


def trained_on_samples(x, weights, at, rate, variance, decay):
    """The mapping after each epoch of `at`, by products with all samples; the noise in the mean."""
    vectors = np.linalg.eigh(x.T @ x)[1][:, ::-1].astype(x.dtype)
    w1, w2 = weights.w1 @ vectors.T, vectors @ weights.w2
    found = []
    for epoch in range(at[-1] + 1):
        if epoch in at:
            found.append(np.diag(vectors.T @ w2 @ w1 @ vectors))
        hidden = x @ w1.T
        error = (hidden @ w2.T - x) / len(x)
        whole = w2 @ w1
        slope1 = (error @ w2).T @ x + variance * w2.T @ whole + decay * w1
        slope2 = error.T @ hidden + variance * whole @ w1.T + decay * w2
        w1, w2 = w1 - rate * slope1, w2 - rate * slope2
    return np.array(found)


@pytest.mark.parametrize(("variance", "decay"), STRENGTHS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (float, 1e-10)])
def test_training_by_the_spectrum_is_training_on_samples(variance, decay, dtype, tolerance, x, rng):
    x = x.astype(dtype)
    spectrum = np.linalg.eigvalsh(x.T @ x)[::-1] / len(x)
    weights = normal_weights(INPUTS, HIDDEN, 0.1, rng, dtype)
    at = [0, 1, 10, 40]
    expected = trained_on_samples(x, weights, at, 0.2, variance, decay)
    start = weights.w1.copy()
    found = np.array(
        list(linear.train(weights, spectrum, at, rate=0.2, variance=variance, decay=decay))
    )
    assert weights.w1.dtype == dtype
    assert not np.array_equal(start, weights.w1)
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())
    assert np.ptp(found, axis=0).max() > 0.1


@pytest.mark.parametrize(("variance", "decay"), STRENGTHS)
def test_the_linear_gradient_is_that_of_the_expected_loss(variance, decay, weights, rng):
    spectrum = rng.random(INPUTS)
    found = linear.gradient(weights, spectrum, variance, decay)
    expected = numerical(
        lambda: linear.expected_loss(weights, spectrum, variance, decay), weights, 1e-5
    )
    assert_close(found, expected, 1e-8)


def test_the_expected_loss_is_the_mean_over_sampled_noise(weights, rng):
    """And, of samples with the same X'X/N, that of `dynamics`."""
    spectrum, variance = rng.random(INPUTS), 0.4
    columns = np.diag(np.sqrt(INPUTS * spectrum))
    found = linear.expected_loss(weights, spectrum, variance, 0.0)
    assert found == pytest.approx(expected_loss(columns, *weights, variance), rel=1e-12)
    noisy = columns + rng.normal(0, np.sqrt(variance), (20_000, INPUTS, INPUTS))
    losses = np.sum((columns - weights.w2 @ weights.w1 @ noisy) ** 2, axis=(1, 2)) / (2 * INPUTS)
    assert losses.mean() == pytest.approx(found, abs=5 * losses.std() / np.sqrt(len(losses)))
    penalty = linear.expected_loss(weights, spectrum, variance, 0.3) - found
    assert penalty == pytest.approx(0.15 * sum(np.sum(weight**2) for weight in weights))


@pytest.mark.parametrize(("variance", "decay"), STRENGTHS)
def test_a_diagonal_network_is_as_many_scalar_ones(variance, decay, rng):
    spectrum = np.array([2.0, 1.0, 0.5])
    w1, w2 = rng.uniform(0.05, 0.4, (2, 3))
    steps, rate = 200, 0.01
    modes = [Mode(lam, variance, decay) for lam in spectrum]
    path = gradient_descent(modes, [rate] * 3, w1, w2, steps)
    expected = np.einsum("tkk->tk", path[:, 0] * path[:, 1])
    weights = Weights(np.diag(w1), np.diag(w2))
    at = list(range(steps + 1))
    found = np.array(
        list(linear.train(weights, spectrum, at, rate=rate, variance=variance, decay=decay))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    flow = [
        np.prod(trajectory(mode, a, b, rate * np.array(at)), axis=0)
        for mode, a, b in zip(modes, w1, w2, strict=True)
    ]
    np.testing.assert_allclose(found, np.transpose(flow), atol=0.02)


def test_the_weights_of_a_mode_move_as_the_scalars_of_its_start(rng):
    """A single mode and many hidden nodes: w₁ and w₂ are vectors that are not parallel."""
    weights = normal_weights(1, 5, 0.3, rng, float)
    a, b = linear.scalar_start(weights)
    assert a * b == pytest.approx(linear.mapping(weights))
    mode = Mode(1.5, 0.3, 0.2)
    path = gradient_descent([mode], [0.1], a, b, 60)
    found = list(
        linear.train(weights, np.array([1.5]), range(61), rate=0.1, variance=0.3, decay=0.2)
    )
    np.testing.assert_allclose(np.ravel(found), np.prod(path, axis=1).ravel(), rtol=1e-11)


@pytest.mark.parametrize(("variance", "decay"), STRENGTHS[:3])
def test_training_ends_at_the_fixed_points(variance, decay, rng):
    spectrum = np.array([2.0, 1.0, 0.1])
    weights = normal_weights(3, 8, 0.1, rng, float)
    (end,) = linear.train(weights, spectrum, [4000], rate=0.1, variance=variance, decay=decay)
    expected = [Mode(lam, variance, decay).fixed_point for lam in spectrum]
    assert (decay > 0.1) == (expected[2] == 0)
    np.testing.assert_allclose(end, expected, atol=1e-6)
