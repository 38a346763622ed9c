"""The checks of Mianjy 2018 say what they should, and would say otherwise of other mathematics."""

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from lindrop.claims.checks import CHARITABLE, CORRECTED, EXTENSION, PRINTED
from lindrop.claims.verdicts import Verdict, strictness, verdict
from lindrop.dropout import equalise, landscape
from lindrop.dropout.multistart import minima
from lindrop.dropout.optimum import effective_rank, solve
from lindrop.papers.mianjy2018 import critical_points, problems
from lindrop.papers.mianjy2018.checks import (
    algorithm_3,
    appendix_d,
    autoencoders,
    costs,
    equalisation,
    escapes,
    expectations,
    geometry,
    invariance,
    joint,
    networks,
    shrinkage,
)
from lindrop.papers.mianjy2018.problems import Case
from support.checks import checks_of, claims_of, figures_of

FIGURES = {*figures_of("mianjy2018"), "section_6_speed"}
FAIRLY_READ = {  # fail by the letter of our copy and hold in the fairest reading
    "algorithm_2_comment",
    "lemma_d2_rotation",
}
OTHERWISE_READ = {  # claims whose words in our copy are not what is checked
    *("theorem_2_4", "theorem_3_6", "algorithm_3", "section_3", "theorem_3_4_proof", "remark_5_2"),
    *("lemma_a1_proof_end", "lemma_a3_proof", "theorem_2_4_proof", "theorem_3_6_trace"),
    *("lemma_d2_proof", "equation_17", "lemma_d3_proof", "section_6_monotone"),
}
MISPRINTS = {"e7", "e9", "e8"}
EXTENDED = {"theorem_4_3", "gradient", "contribution_2"}  # claims

PARTS = (
    expectations.checks,
    invariance.checks,
    equalisation.checks,
    autoencoders.checks,
    networks.checks,
    shrinkage.checks,
    appendix_d.checks,
    escapes.checks,
)


@pytest.fixture(scope="module")
def checks():
    return checks_of("mianjy2018", 1)


def test_another_growth_of_the_cost_is_seen(monkeypatch):
    """Costs of an algorithm repeated r² times, and of one that multiplies M by a whole matrix."""
    sizes = {"SIZES": (100, 200, 400), "LENGTHS": (100, 200, 400), "WIDTHS": (2, 4, 8)}
    for name, value in (sizes | {"ROWS": 16}).items():
        monkeypatch.setattr(costs, name, value)
    assert failing(costs.checks(1), PRINTED) == set()
    equalizer = costs.equalizer

    def repeated(u):
        return [equalizer(u) for _ in range(u.shape[1] ** 2)]

    def whole(m, r, lam):
        return m @ np.eye(m.shape[1]), solve(m, r, lam)

    monkeypatch.setattr(costs, "solve", whole)
    assert failing(costs.checks(1), PRINTED) == {"remark_5_1"}
    monkeypatch.setattr(costs, "equalizer", repeated)
    assert failing(costs.checks(1), PRINTED) == {"remark_5_1", "theorem_2_2_time"}


def test_an_equaliser_that_multiplies_more_than_algorithm_2_is_seen(monkeypatch):
    monkeypatch.setattr(costs, "WIDTHS", (4, 8, 16))
    monkeypatch.setattr(costs, "equalizer", lambda u: np.eye(u.shape[1]) @ u.T)
    assert "remark_5_2_time" in failing(costs.checks(1), PRINTED)


def test_the_checks_of_costs_do_not_depend_on_a_clock(monkeypatch):
    for name, value in {"SIZES": (100, 200), "LENGTHS": (100, 200), "WIDTHS": (4, 8)}.items():
        monkeypatch.setattr(costs, name, value)
    assert costs.checks(1) == costs.checks(1)
    assert "time" not in vars(costs)


@pytest.fixture(scope="module")
def paper():
    return claims_of("mianjy2018")


def failing(found, form):
    return {check.claim for check in found if check.form == form and not check.holds}


def of(entry, checks):
    return [check for check in checks if check.claim in entry.checks]


def test_every_claim_has_a_check_and_every_check_a_claim(checks, paper):
    computed = {check.claim for check in checks}
    assert not computed & FIGURES
    assert set(paper.checks) == computed | FIGURES


def test_what_fails_by_the_letter_is_found_and_all_other_forms_hold(checks):
    assert failing(checks, PRINTED) == FAIRLY_READ | MISPRINTS
    for form in CHARITABLE, CORRECTED, EXTENSION:
        assert failing(checks, form) == set()
    charitable = {check.claim for check in checks if check.form == CHARITABLE}
    assert charitable == FAIRLY_READ | OTHERWISE_READ


def test_no_claim_is_called_wrong_and_what_is_extended_says_so(checks, paper):
    for claim in paper.claims:
        assert claim.accusation is None
        if not set(claim.checks) & FIGURES:
            wanted = Verdict.EXTENDED if claim.id in EXTENDED else Verdict.REPRODUCED
            assert verdict(of(claim, checks)) == wanted, claim.id
            assert bool(claim.extension) == (claim.id in EXTENDED)


def test_errata_are_of_their_kinds(checks, paper):
    kinds = {"E7": "misprint", "E9": "misprint", "E10": "extension", "E8": "misprint"}
    assert {erratum.id: erratum.kind for erratum in paper.errata} == kinds
    for erratum in paper.errata:
        found = of(erratum, checks)
        fail = {check.form for check in found if not check.holds}
        assert fail == ({PRINTED} if erratum.kind == "misprint" else set())


def test_the_tolerances_of_claims_are_those_of_their_checks(checks, paper):
    for claim in paper.claims:
        if found := of(claim, checks):
            widest = max(map(strictness, found))
            assert widest <= claim.tolerance <= 2 * widest, claim.id


def test_numbers_are_finite_and_words_are_unique_within_a_claim(checks):
    assert all(np.isfinite([check.computed, check.expected]).all() for check in checks)
    words = [(check.claim, check.form, check.what) for check in checks]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("seed", [2, 3])
def test_verdicts_do_not_hang_on_the_seed(seed):
    found = [check for part in PARTS for check in part(seed)]
    ours = {check.claim for check in found}
    assert failing(found, PRINTED) == (FAIRLY_READ | MISPRINTS) & ours
    for form in CHARITABLE, CORRECTED, EXTENSION:
        assert failing(found, form) == set()


# The checks can fail


def test_a_wrong_threshold_is_seen(monkeypatch):
    def one_less(values, r, lam):
        return max(effective_rank(values, r, lam) - 1, 1)

    rng = np.random.default_rng(1)
    m = rng.normal(size=(6, 5))
    solved = Case(m, 4, 0.3, minima(m, 4, 0.3, 4, rng))

    def of_theorem_3_6():
        return problems.optimum_checks("theorem_3_6", [solved], networks._least)

    assert not failing(of_theorem_3_6(), CHARITABLE)
    monkeypatch.setattr("lindrop.dropout.optimum.effective_rank", one_less)
    monkeypatch.setattr(problems, "effective_rank", one_less)
    found = autoencoders.checks(1)
    assert "theorem_2_4" in failing(found, CHARITABLE)
    assert "theorem_2_4" in failing(found, EXTENSION)
    assert "theorem_3_6" in failing(of_theorem_3_6(), CHARITABLE)
    monkeypatch.setattr(shrinkage, "effective_rank", one_less)
    assert "theorem_3_6_proof" in failing(shrinkage.checks(1), PRINTED)


def test_a_rotation_that_does_not_equalise_is_seen(monkeypatch):
    def identity(u):
        return np.eye(u.shape[1])

    for module in equalise, equalisation, invariance:
        monkeypatch.setattr(module, "equalizer", identity)
    assert "theorem_2_2" in failing(equalisation.checks(1), PRINTED)
    assert "section_2_bound" in failing(invariance.checks(1), PRINTED)
    assert "theorem_3_3" in failing(networks._theorem_3_3(np.random.default_rng(1)), PRINTED)
    of_proof = failing(networks._theorem_3_3(np.random.default_rng(1)), PRINTED)
    assert "theorem_3_3_proof" in of_proof
    assert "algorithm_3" in failing(algorithm_3.checks(1), CHARITABLE)


def test_a_step_of_algorithm_2_that_misses_the_mean_is_seen(monkeypatch):
    monkeypatch.setattr(equalisation, "sum_of_eigenvectors", lambda gram: np.eye(len(gram))[0])
    assert "algorithm_2" in failing(equalisation.checks(1), PRINTED)


def test_a_turn_that_changes_other_columns_is_seen(monkeypatch):
    turned = equalisation.turned

    def shrinking(u, delta):
        return turned(u, delta) * np.where(np.arange(u.shape[1]) < 2, 1, 0.9)

    monkeypatch.setattr(equalisation, "turned", shrinking)
    rng = np.random.default_rng(1)
    failed = [check.what for check in equalisation._section_4_1(rng) if not check.holds]
    assert len(failed) == 2
    assert "another column" in failed[0]
    assert "UU'" in failed[1]


def test_a_trace_above_von_neumanns_bound_is_seen(monkeypatch):
    trace = shrinkage._trace
    monkeypatch.setattr(shrinkage, "_trace", lambda *of: 1.1 * trace(*of))
    found = list(shrinkage._von_neumann(np.random.default_rng(1)))
    assert failing(found, PRINTED) == {"theorem_2_4_trace"}
    assert failing(found, CHARITABLE) == {"theorem_3_6_trace"}


@pytest.mark.parametrize("factor", [0.5, 1.1])
def test_a_wrong_term_of_the_hessian_is_seen(monkeypatch, factor):
    """The term of the nodes, which the curves of the proofs do not see."""
    second = landscape._second_derivatives

    def wrong(m, u, v, lam):
        by_u, by_both, by_v = second(m, u, v, lam)
        nodes = np.einsum("ai,bi,ij->aibj", u, v, 4 * lam * np.eye(u.shape[1]))
        return by_u, by_both + (factor - 1) * nodes.reshape(u.size, v.size), by_v

    monkeypatch.setattr(landscape, "_second_derivatives", wrong)
    (problem, *_) = geometry.problems(np.random.default_rng(1))
    points = list(geometry.examined(problem, np.random.default_rng(2)))
    assert not geometry.hessian_check("theorem_4_3", points, np.random.default_rng(3)).holds
    monkeypatch.setattr(critical_points, "STARTS", 3)
    roots = critical_points.root_checks([problem], np.random.default_rng(4))
    assert any("error of ∇²f" in check.what and not check.holds for check in roots)


def test_another_bound_on_lam_is_seen(monkeypatch):
    bounds = appendix_d.case_2_bounds
    monkeypatch.setattr(appendix_d, "case_2_bounds", lambda of: 1.02 * bounds(of))
    cases = [of for of in geometry.problems(np.random.default_rng(1)) if of.r == appendix_d.NODES]
    failed = [check.what for check in appendix_d._bound(cases) if not check.holds]
    assert any("− 1%" in what for what in failed)


def test_a_wrong_regulariser_is_seen(monkeypatch):
    monkeypatch.setattr(expectations, "lam_of", lambda keep: 1 - keep)
    claims = {"lemma_a1", "equation_3", "algorithm_1"}
    assert failing(expectations.checks(1), PRINTED) >= claims


def test_a_loss_that_rotations_or_rescalings_change_is_seen(monkeypatch):
    monkeypatch.setattr(invariance, "expected_loss", lambda m, u, v: np.abs(u).sum())
    claims = {"section_2_rotation", "section_3_rotation", "remark_3_1"}
    assert failing(invariance.checks(1), PRINTED) >= claims


def test_a_network_that_is_no_better_is_seen(monkeypatch):
    monkeypatch.setattr(invariance, "equalised", lambda u, v: (u, v))
    assert "section_3_reduction" in failing(invariance.checks(1), PRINTED)


def test_a_pair_that_no_rotation_equalises_is_seen(monkeypatch):
    monkeypatch.setattr(joint, "joint_spread", lambda u, v, rng: 0.1)
    assert failing(joint.checks(1), PRINTED) == set()
    same = np.eye(2)
    assert joint.least_difference(same, same) == pytest.approx(0)
    monkeypatch.setattr(joint, "least_difference", lambda u, v: 0)
    assert failing(joint.checks(1), CHARITABLE) == {"section_3"}


def test_the_search_over_rotations_tells_what_it_cannot_reach(monkeypatch):
    """Without the search, the rotation that is judged is the random one of the start."""
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    assert joint.joint_spread(u, v, rng) < 1e-9

    def unmoved(residual, start, args, **_):
        return OptimizeResult(fun=residual(start, *args))

    monkeypatch.setattr(joint, "least_squares", unmoved)
    assert joint.joint_spread(u, v, rng) > 1e-3


def test_the_least_path_regulariser_is_found_in_every_family():
    """A product of rank one with singular value 3 has ψ₂ ≥ 3/√r, whatever spare nodes hold."""
    product = np.zeros((4, 3))
    product[1, 2] = 3
    least = list(networks.least_path_regularisers(product, 3, np.random.default_rng(1)))
    np.testing.assert_allclose(least, [3**0.5] * 3, rtol=1e-6)


def test_weights_that_are_not_balanced_do_not_meet_the_conditions(monkeypatch):
    monkeypatch.setattr(networks, "random_equalizer", lambda rng: np.eye(networks.NODES))
    found = networks._contribution_2(np.random.default_rng(1))
    assert failing(found, PRINTED) == {"contribution_2"}


def test_dropout_that_stays_at_a_saddle_is_seen(monkeypatch):
    monkeypatch.setattr(escapes, "STEPS", 100)
    assert "contribution_3" in failing(escapes.checks(1), PRINTED)


def test_a_matrix_of_the_reduced_problem_is_solved_by_hand():
    """r = 2, λ = 2, σ = (3, 1): ρ = 1, since 1 < 2·2·2/(2 + 4); s = (3 − 2·3/4, 0)."""
    found = shrinkage.reduced(np.diag([3.0, 1.0]), np.array([3.0, 1.0]), 2, 2.0)
    np.testing.assert_allclose(found.best, [1.5, 0], atol=1e-12)
    assert found.rank == 1
    assert found.value == pytest.approx(1.5**2 + 1 + 1.5**2)
    u, v = solve(found.m, 2, 2.0)
    np.testing.assert_allclose(u @ v.T, np.diag(found.best), atol=1e-12)


def test_a_turn_by_the_printed_angle_levels_but_for_orthogonal_columns():
    slanted, orthogonal = np.array([[2.0, 0.5], [0, 1]]), np.diag([2.0, 1])
    assert equalisation.levelled(slanted, equalisation.lemma_d2_angle(slanted)) > 0
    assert equalisation.lemma_d2_angle(orthogonal) == 0
    assert equalisation.levelled(orthogonal, 0.1) > 0
    q = equalisation.turned(np.eye(3), 0.1)
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-15)


def test_what_is_not_critical_is_seen_in_the_appendix(monkeypatch):
    def longer(problem, rng):
        for of in examined(problem, rng):
            yield of._replace(point=of.point._replace(u=1.01 * of.point.u))

    examined = appendix_d.examined
    monkeypatch.setattr(appendix_d, "examined", longer)
    found = appendix_d.checks(1)
    assert "equation_15" in failing(found, PRINTED)
    assert "equation_17" in failing(found, CHARITABLE)


def test_another_missing_eigenvector_is_seen(monkeypatch):
    """Case 3 with the vectors exchanged: the difference has the other sign."""
    swapped = appendix_d._exchange

    def exchanged(of):
        old, new, row = swapped(of)
        return new, old, row

    monkeypatch.setattr(appendix_d, "_exchange", exchanged)
    assert "lemma_d3_proof" in failing(appendix_d.checks(1), CHARITABLE)


def test_the_bound_of_case_2_by_hand():
    """r = 3, λ = (5, 4, 3): 3·3.5/(5 − 3.5) = 7 and 3·3/(9 − 6) = 3."""
    problem = appendix_d.Tied(np.array([5.0, 4, 3, 1]), np.eye(4), 3, 1.0)
    np.testing.assert_allclose(appendix_d.case_2_bounds(problem), [7, 3])


def test_growth_is_the_exponent_of_a_power_law():
    assert costs.growth([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2)
