"""Every critical point of dropout with tied weights, by hand, by derivatives and by searching."""

import numpy as np
import pytest

from lindrop.dropout.landscape import (
    Group,
    Tied,
    all_missing,
    critical_points,
    groupings,
    hessian,
    levelling,
    next_missing,
    tied_hessian,
)
from lindrop.dropout.objective import gradient, squared_norms, tied_gradient, tied_objective
from lindrop.papers.mianjy2018.checks import geometry
from lindrop.papers.mianjy2018.checks.geometry import (
    criticality,
    curvature,
    examined,
    printed_bound,
    problems,
)
from lindrop.papers.mianjy2018.critical_points import (
    STARTS,
    completeness,
    fingerprint,
    no_saddles,
    roots,
    strict_saddles,
    tall,
)

LAM = 0.7


def problem(*values, r, lam, seed=0):
    """A problem with these eigenvalues, which fall, and random eigenvectors."""
    vectors = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    return Tied(np.array(values, dtype=float), vectors, r, lam)


def differences(slope, at, step=1e-5):
    """The Jacobian of ∇f by central differences: exact but for rounding and O(step²)."""
    directions = step * np.eye(at.size).reshape(-1, *at.shape)
    rows = [slope(at + direction) - slope(at - direction) for direction in directions]
    return np.reshape(rows, (at.size, at.size)) / (2 * step)


def test_the_hessian_is_the_derivative_of_the_gradient():
    rng = np.random.default_rng(1)
    m, weights = rng.normal(size=(4, 3)), rng.normal(size=(7, 2))

    def slope(w):
        return np.concatenate(gradient(m, w[:4], w[4:], LAM))

    exact = hessian(m, weights[:4], weights[4:], LAM)
    np.testing.assert_allclose(exact, differences(slope, weights), atol=1e-7)
    np.testing.assert_array_equal(exact, exact.T)


def test_so_it_is_with_tied_weights_whatever_m():
    rng = np.random.default_rng(2)
    m, u = rng.normal(size=(4, 4)), rng.normal(size=(4, 3))
    exact = tied_hessian(m, u, LAM)
    by_slope = differences(lambda w: tied_gradient(m, w, LAM), u)
    np.testing.assert_allclose(exact, by_slope, atol=1e-7)


def test_two_nodes_and_two_eigenvectors_by_hand():
    assert sorted(groupings(2, (0, 1))) == sorted(
        [
            (Group(2, ()),),
            (Group(1, (0,)), Group(1, ())),
            (Group(1, (1,)), Group(1, ())),
            (Group(1, (0,)), Group(1, (1,))),
            (Group(2, (0,)),),
            (Group(2, (1,)),),
            (Group(2, (0, 1)),),
        ]
    )


def test_a_narrow_layer_spans_no_more_than_its_nodes():
    assert sorted(groupings(1, (0, 1, 2))) == [
        (Group(1, ()),),
        (Group(1, (0,)),),
        (Group(1, (1,)),),
        (Group(1, (2,)),),
    ]


def test_their_products_by_hand():
    """M = diag(2, 1), λ = 1: Σ² = λ_E − n with n = Σλ_E/(k + |E|)."""
    of = Tied(np.array([2.0, 1.0]), np.eye(2), 2, 1.0)
    products = {p.groups: p.u @ p.u.T for p in critical_points(of)}
    expected = {
        (Group(2, ()),): (0, 0),
        (Group(1, (0,)), Group(1, ())): (1, 0),
        (Group(1, (1,)), Group(1, ())): (0, 1 / 2),
        (Group(1, (0,)), Group(1, (1,))): (1, 1 / 2),
        (Group(2, (0,)),): (4 / 3, 0),
        (Group(2, (1,)),): (0, 2 / 3),
        (Group(2, (0, 1)),): (5 / 4, 1 / 4),
    }
    assert products.keys() == expected.keys()
    for groups, diagonal in expected.items():
        np.testing.assert_allclose(products[groups], np.diag(diagonal), atol=1e-15)


def test_strong_dropout_leaves_no_group_with_both():
    """λ_2 > λ(λ_1 + λ_2)/(2 + 2λ) asks for λ < 2 if M = diag(2, 1)."""
    both = (Group(2, (0, 1)),)
    for lam, there in ((1.99, True), (2.01, False)):
        of = Tied(np.array([2.0, 1.0]), np.eye(2), 2, lam)
        assert (both in [p.groups for p in critical_points(of)]) == there


def test_groups_of_one_norm_are_listed_as_one():
    """M = diag(3, 2), λ = 1: two nodes on the first, one on the second: all have norm 1."""
    of = Tied(np.array([3.0, 2.0]), np.eye(2), 3, 1.0)
    groups = [p.groups for p in critical_points(of)]
    assert (Group(3, (0, 1)),) in groups
    assert (Group(2, (0,)), Group(1, (1,))) not in groups
    assert (Group(1, (0,)), Group(2, (1,))) in groups  # norms 3/2 and 2/3


@pytest.mark.parametrize("lam", [0.1, 1.0, 30.0])
def test_groups_are_what_they_say(lam):
    of = problem(5, 3.5, 2, 1, r=4, lam=lam)
    for point in critical_points(of, np.random.default_rng(3)):
        assert np.abs(tied_gradient(of.m, point.u, lam)).max() < 1e-12
        assert point.value == tied_objective(of.m, point.u, lam)
        start, norms = 0, []
        for nodes, spanned in point.groups:
            columns = point.u[:, start : start + nodes]
            inside = of.vectors[:, list(spanned)]
            np.testing.assert_allclose(columns, inside @ (inside.T @ columns), atol=1e-12)
            assert np.ptp(squared_norms(columns)) < 1e-12
            norms.append(squared_norms(columns)[0])
            start += nodes
        assert start == of.r
        assert len(set(np.round(norms, 9))) == len(norms)
        assert point.equalised == (np.ptp(squared_norms(point.u)) < 1e-12)
        assert point.rank == np.linalg.matrix_rank(point.u, tol=1e-6)


def test_random_rotations_change_the_hessian_but_not_its_sign():
    of = problem(3, 2, 1, r=3, lam=0.5)
    groups = (Group(3, (0, 1, 2)),)
    spectra = []
    for seed in range(3):
        (point,) = (
            p for p in critical_points(of, np.random.default_rng(seed)) if p.groups == groups
        )
        spectra.append(np.linalg.eigvalsh(tied_hessian(of.m, point.u, of.lam)))
    assert np.ptp(spectra, axis=0).max() > 0.1
    assert np.min(spectra) > -1e-12


def test_next_missing_goes_down_for_every_lambda_where_case_2_need_not():
    printed = []
    for of in problems(np.random.default_rng(5)):
        for point in examined(of, np.random.default_rng(6)):
            if point.case == 2:
                assert next_missing(of, point.point)[1] < -1e-3
                printed.append((point.bounded, all_missing(of, point.point)[1]))
    assert max(g for bounded, g in printed if bounded) < 0 < max(g for _, g in printed)


def test_the_printed_bound():
    of = problem(5, 4, 3, 2, r=3, lam=1)
    assert printed_bound(of) == pytest.approx(3 * 3 / (5 + 4 + 3 - 3 * 3))


def test_every_claim_holds():
    checks = geometry.checks(8)
    assert {check.claim for check in checks} == {
        "lemma_4_1",
        "theorem_4_3",
        "e10",
        "lemma_d1",
        "lemma_d2",
        "lemma_d2_proof",
        "lemma_d3",
    }
    failing = {(check.claim, check.form) for check in checks if not check.holds}
    assert failing == set()
    assert all(check.form == "extension" for check in checks if check.claim == "e10")


# The checks can fail


@pytest.fixture(scope="module")
def points():
    of = problem(0.8, 0.5, 0.3, r=2, lam=3)
    return list(examined(of, np.random.default_rng(7)))


def test_what_is_not_critical_is_seen(points):
    assert criticality("e10", points).holds
    longer = points[3]._replace(point=points[3].point._replace(u=1.001 * points[3].point.u))
    assert np.any(longer.point.u)
    assert not criticality("e10", [*points, longer]).holds


def test_a_bad_local_minimum_is_seen():
    assert strict_saddles("e10", "", [-0.5, -0.01]).holds
    assert not strict_saddles("e10", "", [-0.5, 0.0]).holds
    assert not strict_saddles("e10", "", [-0.5, 0.01]).holds
    assert no_saddles("e10", "", [0.1, -1e-12]).holds
    assert not no_saddles("e10", "", [0.1, -1e-3]).holds


def test_the_printed_curvature_of_lemma_d2_lacks_lambda(points):
    curves = [(of, curve) for of in points for curve in levelling(of.problem, of.point)]
    assert curvature("lemma_d2_proof", "", curves).holds
    printed = [(of, (tangent, g / of.problem.lam)) for of, (tangent, g) in curves]
    assert not curvature("lemma_d2_proof", "", printed).holds


def test_a_list_with_a_gap_is_seen(points):
    """The root finder reaches what is struck off."""
    of, rng = points[0].problem, np.random.default_rng(8)
    m = of.m
    ends = roots(
        lambda u: tied_gradient(m, u, of.lam), lambda u: tied_hessian(m, u, of.lam), (3, 2), rng
    )
    found = np.array([fingerprint(tied_objective(m, u, of.lam), u @ u.T) for u in ends])
    assert len(found) > 0.8 * STARTS
    known = np.array([fingerprint(p.value, p.u @ p.u.T) for p in critical_points(of)])
    assert completeness("e10", "", [found], [known]).holds
    assert len(known) > 4
    nearest = np.abs(found[:, None] - known).max(axis=2).argmin(axis=1)
    without = completeness("e10", "", [found], [np.delete(known, nearest[0], axis=0)])
    assert not without.holds


def test_free_weights_have_the_singular_values_of_the_tied_problem():
    of = problem(3, 2, 1, r=2, lam=1)
    m = tall(of, np.random.default_rng(9))
    assert m.shape == (4, 3)
    np.testing.assert_allclose(np.linalg.svd(m, compute_uv=False), of.values)
