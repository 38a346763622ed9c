"""The k-support norm: duality, limits, and optimality of its proximal map, on random vectors."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from lindrop.dropout.balanced_blocks import balanced_root, fewest_blocks
from lindrop.dropout.k_support import (
    dual_norm,
    enumerated_prox,
    falling,
    prox,
    rho_of,
    spectral_regulariser,
    squared_norm,
    squared_norm_printed,
    threshold,
)
from lindrop.dropout.optimum import shrunk

BETAS = 1e-3, 0.3, 1.0, 20.0


def vectors(count, seed=0):
    """Spread and even ones, with ties, zeros and both signs; with an r below and above the rank."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        a = rng.normal(size=rng.integers(1, 9)) * rng.exponential() ** rng.choice((0, 1, 3))
        if number % 4 == 0:
            a = np.round(2 * a) / 2
        yield (a if a.any() else a + 1), int(rng.integers(1, 10))


def certificate(a, r):
    """z with ⟨a, z⟩ = ‖a‖·‖z‖*: the entries of a, those from ρ on raised to the level of all."""
    rho = int(rho_of(a, r))
    level = falling(a, r)[rho - 1 :].sum() / (r - rho + 1)
    return np.copysign(np.maximum(np.abs(a), level), a)


def violation(a, m, r, beta):
    """How far (m − a)/β is from the subdifferential of ½‖·‖² at a, relative."""
    z, scale = (m - a) / beta, squared_norm(a, r)
    return max(abs(a @ z - scale), abs(dual_norm(z, r) ** 2 - scale)) / scale


def test_the_dual_norm_is_the_largest_length_of_r_entries():
    for z, r in vectors(60):
        chosen = combinations(z, min(r, len(z)))
        assert dual_norm(z, r) == pytest.approx(max(np.linalg.norm(c) for c in chosen), rel=1e-14)


def test_no_pair_violates_duality_and_every_vector_has_one_that_attains_it():
    rng = np.random.default_rng(1)
    for a, r in vectors(300):
        norm, z = np.sqrt(squared_norm(a, r)), certificate(a, r)
        assert a @ z == pytest.approx(norm * dual_norm(z, r), rel=1e-13)
        for other in rng.normal(size=(20, len(a))):
            assert a @ other <= norm * dual_norm(other, r) * (1 + 1e-13)


def test_the_ball_has_every_sparse_unit_vector_and_is_convex():
    rng = np.random.default_rng(2)
    for r in (1, 2, 4):
        sparse = np.zeros((50, 7))
        for row in sparse:
            row[rng.permutation(7)[:r]] = rng.normal(size=r)
        np.testing.assert_allclose(squared_norm(sparse, r), np.sum(sparse**2, axis=1), rtol=1e-14)
        a, b = rng.normal(size=(2, 200, 7))
        lengths = [np.sqrt(squared_norm(vector, r)) for vector in (a + b, a, b)]
        assert np.all(lengths[0] <= (lengths[1] + lengths[2]) * (1 + 1e-14))


def test_the_norm_falls_from_the_nuclear_to_the_frobenius_norm():
    matrix = np.random.default_rng(3).normal(size=(5, 7))
    values = [spectral_regulariser(matrix, r, 0.5) for r in range(1, 8)]
    assert values[0] == pytest.approx(0.5 * np.linalg.norm(matrix, "nuc") ** 2, rel=1e-14)
    assert values[4:] == pytest.approx([0.5 * np.linalg.norm(matrix) ** 2] * 3, rel=1e-14)
    assert np.all(np.diff(values[:5]) < 0)


def test_the_printed_rule_never_finds_another_rho_than_r():
    for a, r in vectors(200):
        padded = falling(a, r)
        at_r = np.sum(padded[: r - 1] ** 2) + padded[r - 1 :].sum() ** 2
        assert squared_norm_printed(a, r) == pytest.approx(at_r, rel=1e-13)
        assert squared_norm_printed(a, r) >= squared_norm(a, r) * (1 - 1e-14)
    assert (squared_norm_printed(np.ones(3), 2), squared_norm(np.ones(3), 2)) == (5, 4.5)


def test_rho_is_the_largest_that_its_inequality_allows():
    for a, r in vectors(200):
        a = falling(a, r)
        allowed = [
            rho for rho in range(2, r + 1) if a[rho - 2] * (r - rho + 1) >= a[rho - 1 :].sum()
        ]
        assert rho_of(a, r) == max(allowed, default=1)


@pytest.mark.parametrize("beta", BETAS)
def test_the_proximal_map_meets_the_condition_of_optimality(beta):
    for m, r in vectors(300):
        assert violation(prox(m, r, beta), m, r, beta) < 1e-10


def test_the_printed_range_of_rho_does_not():
    m = falling(np.array([3.0, 2.0, 1.0, 0.5]))
    assert violation(enumerated_prox(m, 3, 0.5, 3), m, 3, 0.5) < 1e-12
    assert violation(enumerated_prox(m, 3, 0.5, 2), m, 3, 0.5) > 0.01
    assert violation(prox(m, 3, 0.5) * 1.001, m, 3, 0.5) > 1e-4


@pytest.mark.parametrize("beta", BETAS)
def test_the_root_is_exact_and_the_search_of_the_paper_finds_the_same(beta):
    for m, r in vectors(200):
        m = falling(m)
        tau, a = threshold(m, r, beta), prox(m, r, beta)
        if np.count_nonzero(m) <= r:
            assert tau == 0
        else:
            terms = np.clip(beta * (m / tau - 1), 0, 1)
            assert terms.sum() == pytest.approx(r, rel=1e-11)
        np.testing.assert_allclose(enumerated_prox(m, r, beta, r), a, atol=1e-12 * m[0])


def test_a_general_solver_finds_the_same_through_the_dual():
    """min ¼‖z‖² − m'z + t/4β with t at least every sum of r squares; then a = m − z/2."""
    rng = np.random.default_rng(4)
    for r, beta in ((1, 0.3), (2, 0.1), (2, 1.0), (3, 0.5), (4, 2.0)):
        m = rng.normal(size=5)
        sets = np.array([np.isin(range(5), chosen) for chosen in combinations(range(5), r)])
        found = minimize(
            lambda zt, m=m, beta=beta: zt[:-1] @ zt[:-1] / 4 - m @ zt[:-1] + zt[-1] / (4 * beta),
            np.append(m, m @ m),
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda zt, s=sets: zt[-1] - s @ zt[:-1] ** 2},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(m - found.x[:-1] / 2, prox(m, r, beta), atol=1e-5)


def test_limits_of_the_proximal_map():
    m = falling(np.random.default_rng(5).normal(size=6))
    for r in (1, 2, 4):
        np.testing.assert_array_equal(prox(m, r, 0.0), m)
        np.testing.assert_allclose(prox(m, r, 1e-9), m, atol=1e-7)
        length = np.sqrt(squared_norm(prox(m, r, 1e9), r))
        assert 1e9 * length == pytest.approx(dual_norm(m, r), rel=1e-8)
    np.testing.assert_allclose(prox(m, 6, 0.7), m / 1.7, rtol=1e-15)
    for beta in BETAS:  # dropout, whose λ is spread over d nodes
        np.testing.assert_allclose(prox(m, 1, beta), shrunk(m, 6, 6 * beta), atol=1e-14)


def test_signs_order_and_leading_axes_do_not_matter():
    rng = np.random.default_rng(6)
    m = rng.normal(size=7)
    order, signs = rng.permutation(7), rng.choice((-1, 1), 7)
    moved = prox((signs * m)[order], 3, 0.4)
    np.testing.assert_array_equal(moved, (signs * prox(m, 3, 0.4))[order])
    many = rng.normal(size=(2, 5, 7))
    for rule in (squared_norm, squared_norm_printed, dual_norm):
        single = [[rule(vector, 3) for vector in row] for row in many]
        np.testing.assert_allclose(rule(many, 3), single, rtol=1e-14)


def test_balanced_blocks_for_every_number_from_the_fewest_on():
    cases = [*vectors(100), *((np.ones(n), r) for n in range(1, 9) for r in (1, 2, 3, 5, 7))]
    for a, r in cases:
        a = falling(a[a != 0])
        for k in range(fewest_blocks(a, r), fewest_blocks(a, r) + 5):
            root = balanced_root(a, r, k)
            blocks = root.reshape(len(a), k, r).transpose(1, 0, 2)
            norms = np.linalg.norm(blocks @ blocks.transpose(0, 2, 1), axis=(1, 2))
            np.testing.assert_allclose(root @ root.T, np.diag(a), atol=1e-13 * a[0])
            np.testing.assert_allclose(k * norms, np.sqrt(squared_norm(a, r)), rtol=1e-12)


def test_too_few_blocks_are_refused():
    assert fewest_blocks(np.ones(3), 2) == 4
    assert fewest_blocks(np.ones(3), 1) == 3
    assert fewest_blocks(np.ones(3), 3) == 1
    with pytest.raises(ValueError, match="3 blocks"):
        balanced_root(np.ones(3), 2, 3)
