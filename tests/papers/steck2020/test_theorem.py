"""Every mask of a small problem, in turn, proves what sampling can only suggest."""

from itertools import product

import numpy as np
import pytest

from lindrop.models.full_rank import emphasised_matrix
from lindrop.papers.steck2020.figures.theorem import draw
from lindrop.papers.steck2020.sampling import (
    correlated_sample,
    deep_dropout_objective_exact,
    deep_dropout_objective_printed,
    deep_dropout_objective_sampled,
    deep_dropout_table,
    minimiser,
    moments,
    sampled_moments,
    theorem_curves,
)

X = np.array([[1.0, 0, 2], [1, 1, 0], [0, 3, 1]])  # small whole numbers: float32 holds all sums


def every_mask(shape, p):
    """All equally likely outcomes of dropout with p = 1/2 or 1/3: δ of shape (outcomes, *shape)."""
    sides = round(1 / p)
    outcomes = product(range(sides), repeat=int(np.prod(shape)))
    return np.array(list(outcomes)).reshape(-1, *shape) > 0


def reference(gram, p, a, b):
    """Closed form of Eq. 6 (`emphasised_matrix`), entry by entry."""
    noise = p / (1 - p) * np.diag(gram)
    c = np.linalg.inv(gram + np.diag(noise))
    best = np.empty_like(gram)
    for i, j in np.ndindex(gram.shape):
        denominator = b + (a - b) * noise[j] * c[j, j]
        best[i, j] = (
            (a * p + b * (1 - p)) * (1 - noise[j] * c[j, j]) / denominator
            if i == j
            else -c[i, j] * a * noise[j] / denominator
        )
    return best


def equation_6(x, matrix, p, a, b):
    noise = p / (1 - p) * np.sum(x**2, axis=0)
    diagonal, mean = np.diag(np.diag(matrix)), a * p + b * (1 - p)
    rest = x - x @ (matrix - (1 - b / mean) * diagonal)
    shrunk = matrix - (1 - np.sqrt(a * b) / mean) * diagonal
    return np.sum(rest**2) + noise @ np.sum(shrunk**2, axis=1)


@pytest.mark.parametrize("p", [1 / 2, 1 / 3])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 0.5), (2, 0.05)])
def test_the_mean_over_all_masks_is_equation_6_and_its_minimum_the_closed_form(p, a, b):
    kept = every_mask(X.shape, p)
    matrix = np.random.default_rng(1).normal(size=(3, 3))
    weights = np.where(kept, b, a)
    loss = np.sum(weights * (X - (kept * X) @ matrix) ** 2, axis=(1, 2)).mean()
    scale = a * p + b * (1 - p)
    assert scale * equation_6(X, (1 - p) * matrix, p, a, b) == pytest.approx(loss, rel=1e-12)

    best = reference(X.T @ X, p, a, b)
    np.testing.assert_allclose(minimiser(moments(X, kept), a, b, p), best, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(emphasised_matrix(X.T @ X, p, 0.0, a, b), best, rtol=1e-10)
    least = equation_6(X, best, p, a, b)
    for step in np.random.default_rng(2).normal(scale=1e-3, size=(20, 3, 3)):
        assert equation_6(X, best + step, p, a, b) > least


def test_the_diagonal_does_not_vanish_with_b():
    """E1: it tends to p (1/(Λ_i C_ii) − 1), not to 0 as §4.1.1 says; the rest tends to Eq. 8."""
    p, gram = 1 / 3, X.T @ X
    noise = p / (1 - p) * np.diag(gram)
    c = np.linalg.inv(gram + np.diag(noise))
    limit = p * (1 / (noise * np.diag(c)) - 1)
    assert limit.min() > 0.05
    sampled = minimiser(moments(X, every_mask(X.shape, p)), 1.0, 1e-9, p)
    np.testing.assert_allclose(np.diag(sampled), limit, rtol=1e-5)
    full = np.eye(3) - c / np.diag(c)
    np.testing.assert_allclose(sampled - np.diag(np.diag(sampled)), full, atol=1e-6)


def minimisers(x, a, b, p, epochs, rng):
    """B^(EDLAE) after each number of epochs of one series of masks."""
    return np.stack([minimiser(of, a, b, p) for of in sampled_moments(x, p, epochs, rng)])


def test_more_epochs_continue_the_same_masks_and_blocks_do_not_matter(monkeypatch):
    x = correlated_sample(50, 6, np.random.default_rng(0))
    case = (x, 1.0, 0.5, 0.3)
    whole = minimisers(*case, [3, 200], np.random.default_rng(1))
    assert whole.shape == (2, 6, 6)
    alone = minimisers(*case, [200], np.random.default_rng(1))
    np.testing.assert_array_equal(whole[1], alone[0])
    monkeypatch.setattr("lindrop.papers.steck2020.sampling.ROWS_AT_ONCE", 128)
    pieces = minimisers(*case, [3, 200], np.random.default_rng(1))
    np.testing.assert_array_equal(whole, pieces)


def test_sampling_converges_as_one_over_the_root_of_epochs():
    epochs = [2**k for k in range(2, 9)]
    curves = theorem_curves(5, rows=100, items=6, runs=12, epochs=epochs)
    assert len(curves) == 4 * 12 * len(epochs)
    medians = curves.groupby(["p", "a", "b", "epochs"])[["error", "error_off_diagonal"]].median()
    for _, case in medians.groupby(["p", "a", "b"]):
        for column in case:
            slope = np.polyfit(np.log(epochs), np.log(case[column]), 1)[0]
            assert slope == pytest.approx(-0.5, abs=0.08)


def test_a_wrong_closed_form_is_seen():
    """A closed form without emphasis leaves a distance that stalls, so the figure can refute."""
    curves = theorem_curves(
        5,
        closed_form=lambda gram, p, ridge, a, b: emphasised_matrix(gram, p, ridge, 1.0, 1.0),
        rows=100,
        items=6,
        runs=2,
        epochs=[64, 512],
    )
    wrong = curves[(curves["b"] < 1) & (curves["epochs"] == 512)]["error"]
    right = curves[(curves["b"] == 1) & (curves["epochs"] == 512)]["error"]
    assert wrong.min() > 5 * right.max()


def net(layers):
    return list(np.random.default_rng(layers).normal(size=(layers, 2, 2)))


def over_every_mask(x, weights, p):
    """The mean loss of a net, all masks of all layers in turn."""
    total = []
    for kept in every_mask((len(weights), *x.shape), p):
        values = x
        for mask, weight in zip(kept, weights, strict=True):
            values = values * mask / (1 - p) @ weight
        total.append(np.sum((x - values) ** 2))
    return np.mean(total)


@pytest.mark.parametrize(("layers", "p"), [(1, 1 / 3), (2, 1 / 2), (2, 1 / 3), (3, 1 / 2)])
def test_several_layers_follow_the_recursion_not_the_printed_sum(layers, p):
    """The recursion of erratum E6, against enumeration."""
    x = np.array([[1.0, 2.0], [-1.0, 0.5]])
    weights, gram = net(layers), x.T @ x
    mean = over_every_mask(x, weights, p)
    assert deep_dropout_objective_exact(gram, weights, p) == pytest.approx(mean, rel=1e-12)
    printed = deep_dropout_objective_printed(gram, weights, p)
    if layers == 1:
        assert printed == pytest.approx(mean, rel=1e-12)
    else:
        assert printed < 0.97 * mean


def test_two_layers_lack_just_the_noise_of_the_first_in_the_second():
    p, c = 0.5, 1.0
    x = np.array([[1.0, 2.0], [-1.0, 0.5]])
    (first, second), gram = net(2), x.T @ x
    noise = first.T @ (c * np.diag(np.diag(gram))) @ first
    missing = c * np.diag(noise) @ np.sum(second**2, axis=1)
    printed = deep_dropout_objective_printed(gram, [first, second], p)
    mean = over_every_mask(x, [first, second], p)
    assert printed + missing == pytest.approx(mean, rel=1e-12)


def test_dropout_in_one_layer_of_several_is_as_printed():
    x = correlated_sample(20, 2, np.random.default_rng(0))
    for p in ([0.4, 0, 0], [0, 0.4, 0], [0, 0, 0.4]):
        assert deep_dropout_objective_printed(x.T @ x, net(3), p) == pytest.approx(
            deep_dropout_objective_exact(x.T @ x, net(3), p), rel=1e-12
        )


def test_layers_may_differ_in_width_and_dropout():
    rng = np.random.default_rng(4)
    x = correlated_sample(20, 4, rng)
    weights, p = [rng.normal(size=shape) for shape in ((4, 3), (3, 5), (5, 4))], [0.1, 0.3, 0.5]
    sampled = deep_dropout_objective_sampled(x, weights, p, 20_000, rng)
    error = sampled.std() / np.sqrt(len(sampled))
    assert sampled.mean() == pytest.approx(
        deep_dropout_objective_exact(x.T @ x, weights, p), abs=4 * error
    )


def test_the_table_and_the_figure():
    deep = deep_dropout_table(3, rows=30, items=5, draws=2_000, most_layers=3)
    assert len(deep) == 6
    assert np.all(np.abs(deep["sampled"] - deep["exact"]) < 4 * deep["sampled_stderr"])
    several = deep["layers"] > 1
    np.testing.assert_allclose(deep.loc[~several, "printed/exact"], 1, rtol=1e-12)
    assert np.all(deep.loc[several, "printed/exact"] < 0.99)
    curves = theorem_curves(3, rows=40, items=4, runs=2, epochs=[1, 4])
    left, right = draw((curves, deep)).axes
    assert len(left.get_legend().get_texts()) == 5
    assert len(right.get_legend().get_texts()) == 5


def test_the_sample_is_binary_and_correlated():
    x = correlated_sample(2_000, 12, np.random.default_rng(7))
    assert set(np.unique(x)) == {0.0, 1.0}
    assert 0.1 < x.mean() < 0.6
    assert np.abs(np.corrcoef(x.T) - np.eye(12)).max() > 0.2
