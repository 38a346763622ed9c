"""Full-rank DLAE, EDLAE and emphasised models minimise their objectives."""

import numpy as np
import pytest

from lindrop.models.base import Training
from lindrop.models.full_rank import emphasised_matrix, fit_dlae, fit_emphasised
from lindrop.models.full_rank import fit_edlae as fit_full_edlae
from support.objectives import CASES, DENSE, Loss, noise, off, training


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_full_rank_dlae_minimises_equation_3(p, ridge):
    loss = Loss(p, ridge)
    b = fit_dlae(training(), p, ridge).model.matrix
    assert abs(loss.gradient(b)).max() < 1e-10 * abs(loss.gram).max()


@pytest.mark.parametrize(("p", "ridge"), CASES)
def test_full_rank_edlae_minimises_equation_7(p, ridge):
    loss = Loss(p, ridge)
    b = fit_full_edlae(training(), p, ridge).model.matrix
    assert np.all(b.diagonal() == 0)
    assert abs(off(loss.gradient(b))).max() < 1e-10 * abs(loss.gram).max()


def test_without_dropout_edlae_is_ease():
    """Steck 2019, item by item: the ridge regression of each on the others."""
    b = fit_full_edlae(training(), 0.0, 60.0).model.matrix
    gram = DENSE.T @ DENSE
    for i in range(20):
        others = np.arange(20) != i
        weights = np.linalg.solve(gram[np.ix_(others, others)] + 60 * np.eye(19), gram[others, i])
        np.testing.assert_allclose(b[others, i], weights, rtol=1e-9)


def test_an_only_item_is_predicted_from_itself():
    data = Training.of(np.ones((6, 1)))
    assert fit_dlae(data, 0.25, 4.0).model.matrix == pytest.approx(0.5)  # 6 / (6 + 2 + 4)
    assert fit_full_edlae(data, 0.25, 4.0).model.matrix == 0


def equation_6(b, p, ridge, a, emphasis):
    """Eq. 6 of Steck 2020 with Λ̃ in place of Λ; the argument `emphasis` is its weight b."""
    mean, diagonal = a * p + emphasis * (1 - p), np.diag(np.diag(b))
    rest = DENSE - DENSE @ (b - (1 - emphasis / mean) * diagonal)
    shrunk = b - (1 - np.sqrt(a * emphasis) / mean) * diagonal
    return np.sum(rest**2) + (noise(p) + ridge) @ np.sum(shrunk**2, axis=1)


@pytest.mark.parametrize(("p", "ridge"), CASES)
@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 0.3), (5, 0.01)])
def test_any_emphasis_minimises_equation_6(p, ridge, a, b):
    best = fit_emphasised(training(), p, ridge, a, b).model.matrix
    np.testing.assert_allclose(
        best, emphasised_matrix(DENSE.T @ DENSE, p, ridge, a, b), rtol=1e-10, atol=1e-13
    )

    def slope(place):  # central differences of a quadratic are exact
        step = np.zeros_like(best)
        step[place] = 1
        return (
            equation_6(best + step, p, ridge, a, b) - equation_6(best - step, p, ridge, a, b)
        ) / 2

    slopes = [slope(place) for place in np.ndindex(best.shape)]
    assert max(map(abs, slopes)) < 1e-8 * equation_6(best, p, ridge, a, b) / min(1, b)


@pytest.mark.parametrize(("p", "ridge"), [(0.33, 0.0), (0.33, 20.0)])
def test_limits_of_the_emphasis(p, ridge):
    """Equal: Eq. 5. Full: Eq. 8, but for the diagonal (E1)."""
    equal = fit_emphasised(training(), p, ridge, 2.0, 2.0).model.matrix
    dlae = fit_dlae(training(), p, ridge).model.matrix
    np.testing.assert_allclose(equal, dlae, atol=1e-12)

    full = fit_emphasised(training(), p, ridge, 1.0, 1e-10).model.matrix
    np.testing.assert_allclose(
        off(full), fit_full_edlae(training(), p, ridge).model.matrix, atol=1e-8
    )
    weights = noise(p) + ridge
    c = np.linalg.inv(DENSE.T @ DENSE + np.diag(weights))
    limit = p * (1 / (weights * c.diagonal()) - 1)
    assert limit.min() > 0.03
    np.testing.assert_allclose(full.diagonal(), limit, rtol=1e-6)
