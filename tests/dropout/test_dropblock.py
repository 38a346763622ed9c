"""DropBlock: masks in turn, gradients, optima certified by duality, verdicts on the paper."""

from itertools import product

import numpy as np
import pytest

from lindrop.dropout import objective as dropout
from lindrop.dropout.balanced_blocks import fewest_blocks
from lindrop.dropout.dropblock import (
    adaptive_keep,
    balanced_factors,
    beta_at,
    fixed_objective,
    gradient,
    objective,
    omega,
    optimum,
    squared_block_norms,
)
from lindrop.dropout.k_support import (
    dual_norm,
    enumerated_prox,
    spectral_regulariser,
    squared_norm_printed,
)
from lindrop.dropout.objective import lam_of
from lindrop.dropout.optimum import optimal_value
from lindrop.papers.pal2020 import references
from lindrop.papers.pal2020.checks import closed_forms
from lindrop.papers.pal2020.references import least_bound

RNG = np.random.default_rng(0)
Y, U, V = RNG.normal(size=(4, 7)), RNG.normal(size=(4, 6)), RNG.normal(size=(5, 6))
INPUTS = {
    "full column rank": np.linalg.qr(RNG.normal(size=(8, 7)))[0] * np.arange(1, 8),
    "more samples than inputs": RNG.normal(size=(5, 7)),
    "rank 3": RNG.normal(size=(5, 3)) @ RNG.normal(size=(3, 7)),
}
X = INPUTS["more samples than inputs"]
FAILING = {
    *("e12", "e13", "e17"),
}
HOLDING = {
    *("theorem_2_3", "proposition_3_3"),
    *("section_2_3_convexity", "theorem_2_7", "e14", "e15"),
    "equation_7",
    "equation_8",
    "theorem_2_5",
    "theorem_2_6",
    "corollary_2_8",
}


def lower_bound(y, r, beta, z):
    """⟨Y, Z⟩ − ¼‖Z‖² − ‖Z‖*²/4β, Z in reach: below F whatever Z is, and whatever Λ** is."""
    largest = dual_norm(np.linalg.svd(z, compute_uv=False), r)
    return np.sum(y * z) - np.sum(z**2) / 4 - largest**2 / (4 * beta)


@pytest.mark.parametrize("r", [1, 2, 3, 6])
@pytest.mark.parametrize("keep", [0.2, 0.5, 1.0])
def test_the_mean_over_all_masks_is_the_objective(r, keep):
    mean = 0.0
    for kept in product((0, 1), repeat=6 // r):
        answer = U @ np.diag(np.repeat(kept, r)) @ V.T @ X / keep
        chance = np.prod(np.where(kept, keep, 1 - keep))
        mean += chance * np.sum((Y - answer) ** 2)
    assert fixed_objective(Y, X, U, V, r, keep) == pytest.approx(mean, rel=1e-13)
    beta = beta_at(keep, r, 6)
    assert objective(Y, X, U, V, r, beta) == pytest.approx(mean, rel=1e-13)
    assert references.masked_objective(Y, X, U, V, r, keep) == pytest.approx(mean, rel=1e-13)


def test_norms_of_blocks_need_no_products():
    blocks = [(U[:, i : i + 2], V[:, i : i + 2]) for i in (0, 2, 4)]
    norms = [np.linalg.norm(u @ v.T @ X) ** 2 for u, v in blocks]
    np.testing.assert_allclose(squared_block_norms(U, V, X, 2), norms, rtol=1e-13)
    assert omega(U, V, X, 2, 0.2) == pytest.approx(4 * sum(norms), rel=1e-13)


def test_blocks_of_one_node_are_dropout():
    white = np.eye(5)
    m = Y[:, :5]
    expected = dropout.objective(m, U, V, lam_of(0.4))
    assert fixed_objective(m, white, U, V, 1, 0.4) == pytest.approx(expected, rel=1e-13)
    slopes = gradient(m, white, U, V, 1, beta_at(0.4, 1, 6))
    for slope, other in zip(slopes, dropout.gradient(m, U, V, lam_of(0.4)), strict=True):
        np.testing.assert_allclose(slope, other, rtol=1e-12)


@pytest.mark.parametrize("r", [1, 2, 3])
def test_the_gradient(r):
    by_u, by_v = gradient(Y, X, U, V, r, 0.7)
    rng, h = np.random.default_rng(r), 1e-5
    for du, dv in zip(rng.normal(size=(5, *U.shape)), rng.normal(size=(5, *V.shape)), strict=True):
        ahead, behind = (objective(Y, X, U + s * du, V + s * dv, r, 0.7) for s in (h, -h))
        slope = np.sum(by_u * du) + np.sum(by_v * dv)
        assert (ahead - behind) / (2 * h) == pytest.approx(slope, rel=1e-6)


def test_the_adaptive_probability():
    """Equation 7, that it is θ̄ with one block, and that β then does not depend on d."""
    for keep, r, d in product((0.1, 0.5, 1.0), (1, 4), (4, 40)):
        printed = keep * r / (keep * r + (1 - keep) * d)
        assert adaptive_keep(keep, r, d) == pytest.approx(printed, rel=1e-15)
        assert beta_at(adaptive_keep(keep, r, d), r, d) == pytest.approx(lam_of(keep), abs=1e-14)
    assert adaptive_keep(0.3, 4, 4) == pytest.approx(0.3, rel=1e-15)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("r", [1, 2, 3, 9])
@pytest.mark.parametrize("beta", [0.02, 0.5, 4.0])
def test_optimum_and_factors_are_certified_by_duality(name, r, beta):
    """Above: f of factors, which knows no closed form. Below: the conjugates, nor do they."""
    x = INPUTS[name]
    found = optimum(Y, r, beta, x)
    reach = np.linalg.pinv(x) @ x
    lost = np.sum((Y - Y @ reach) ** 2)
    below = lower_bound(Y @ reach, r, beta, 2 * (Y @ reach - found.product)) + lost
    u, v = balanced_factors(found.product, x, r)
    assert found.value == pytest.approx(below, rel=1e-12)
    assert objective(Y, x, u, v, r, beta) == pytest.approx(below, rel=1e-12)
    np.testing.assert_allclose(u @ v.T @ x, found.product, atol=1e-12)
    norms = squared_block_norms(u, v, x, r)
    np.testing.assert_allclose(norms, norms.mean(), rtol=1e-11)
    assert lower_bound(Y @ reach, r, beta, 1.1 * (Y @ reach - found.product)) + lost < below


def test_no_factors_are_below_the_optimum():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        u, v = rng.normal(scale=0.3, size=(4, 12)), rng.normal(scale=0.3, size=(5, 12))
        for r in (1, 2, 4):
            assert objective(Y, X, u, v, r, 0.2) > optimum(Y, r, 0.2, X).value
            least = spectral_regulariser(u @ v.T @ X, r, 0.2)
            assert 0.2 * 12 / r * squared_block_norms(u, v, X, r).sum() > least


def test_an_input_that_reaches_everything_is_no_constraint():
    free, other = optimum(Y, 2, 0.3), optimum(Y, 2, 0.3, INPUTS["full column rank"])
    assert free.value == pytest.approx(other.value, rel=1e-13)
    np.testing.assert_allclose(free.product, other.product, atol=1e-13)


def test_dropout_is_the_case_of_one_node():
    for d, keep in product((4, 9), (0.1, 0.5, 0.9)):
        expected = optimal_value(Y, d, lam_of(keep))
        assert optimum(Y, 1, beta_at(keep, 1, d)).value == pytest.approx(expected, rel=1e-13)


def test_two_blocks_of_two_share_three_directions_badly():
    """E15 at Y = I₃: one direction is in both blocks, each of the others in one of them."""
    rng = np.random.default_rng(8)
    for beta in (0.25, 0.5, 1.0):
        ends = references.dropblock_minima(np.eye(3), np.eye(3), 2, beta, 2, rng)
        shared, single = beta / (1 + beta), 2 * beta / (1 + 2 * beta)
        assert ends[0].value == pytest.approx(shared + 2 * single, rel=1e-9)
        assert ends[0].value > optimum(np.eye(3), 2, beta).value + 0.03


def test_factors_of_a_given_number_of_blocks():
    rng = np.random.default_rng(7)
    a = rng.normal(size=(6, 5)) @ X
    for r in (1, 2, 3):
        first = fewest_blocks(np.linalg.svd(a, compute_uv=False)[:5], r)
        for k in (first, first + 1, first + 6):
            u, v = balanced_factors(a, X, r, k)
            assert u.shape == (6, k * r)
            norms = squared_block_norms(u, v, X, r)
            assert k * norms.sum() == pytest.approx(spectral_regulariser(a, r, 1.0), rel=1e-11)
            np.testing.assert_allclose(u @ v.T @ X, a, atol=1e-11)
    with pytest.raises(ValueError, match="1 blocks"):
        balanced_factors(a, X, 2, 1)


@pytest.fixture(scope="module")
def checks():
    return closed_forms.checks(3)


def test_the_verdicts(checks):
    """What is wrong as printed fails, and only that; every correction holds."""
    assert {check.claim for check in checks} == FAILING | HOLDING
    failing = {check.claim for check in checks if not check.holds}
    assert failing == FAILING
    assert all(check.form == "as printed" for check in checks if not check.holds)
    corrected = {check.claim for check in checks if check.form == "corrected"}
    assert corrected == FAILING
    charitable = {check.claim for check in checks if check.form == "charitably read"}
    assert {"theorem_2_3", "proposition_3_3"} <= charitable


def test_the_checks_are_those_of_their_seed(checks):
    assert closed_forms.checks(3) == checks
    assert closed_forms.checks(4) != checks


def printed_prox(m, r, beta):
    return enumerated_prox(m, r, beta, max(r - 1, 1))


def unbalanced_factors(a, x, r, blocks=None):
    u, v = balanced_factors(a, x, r, blocks)
    scale = np.linspace(0.9, 1.1, u.shape[1] // r).repeat(r)
    return u * scale, v / scale**2


def half(m, r, *_):
    return m / 2


def a_tenth_more(y, r, beta):
    return 1.1 * least_bound(y, r, beta)


NOT_CONVEX = {"section_2_3_convexity", "theorem_2_3", "e12"}
MUTANTS = {
    "prox": (printed_prox, {"theorem_2_7"}),
    "enumerated_prox": (half, {"theorem_2_7", "e13"}),
    "least_bound": (a_tenth_more, {"e14", "e15", "proposition_3_3", "e17"}),
    "squared_norm": (squared_norm_printed, {"theorem_2_3"}),
    "balanced_factors": (
        unbalanced_factors,
        {"theorem_2_3", "corollary_2_8", "section_2_3_convexity", "e15"},
    ),
    "conjugate_norm": (lambda a, r: np.sum(np.sort(np.abs(a))[-r:] ** 2), NOT_CONVEX),
    "beta_at": (lambda keep, r, d: lam_of(keep), {"e17"}),
    "adaptive_keep": (lambda keep, r, d: keep, {"equation_7", "proposition_3_3"}),
    "omega": (lambda u, v, x, r, keep: lam_of(keep), {"equation_7"}),
    "outcomes": (lambda k, keep: (np.ones((1, k)), np.ones(1)), {"equation_8"}),
    "squared_block_norms": (lambda u, v, x, r: np.arange(1, u.shape[1] // r + 1), {"theorem_2_5"}),
    "conjugate_minimiser": (lambda problem: problem.m / 2, {"theorem_2_6", "theorem_2_7"}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_seen(name, checks, monkeypatch):
    """Wrong where it is used, a function makes checks fail that hold."""
    mutant, claims = MUTANTS[name]
    for module in (closed_forms, references):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, mutant)
    monkeypatch.setattr(closed_forms, "PROBLEMS", 40)
    mutated = closed_forms.checks(3)
    newly = {
        new.claim for new, old in zip(mutated, checks, strict=True) if old.holds and not new.holds
    }
    assert newly >= claims
