"""Pal 2020: what the checks of its sections find, and the verdicts that follow."""

import numpy as np
import pytest

from lindrop.claims.checks import CHARITABLE, CORRECTED, PRINTED
from lindrop.claims.verdicts import Verdict, strictness, verdict
from lindrop.dropout.k_support import rho_of, threshold
from lindrop.papers.pal2020.checks import (
    capacity,
    characteristic,
    envelope,
    networks,
    operations,
    supplement,
)
from lindrop.papers.pal2020.deep import data_of, shown_name
from lindrop.papers.pal2020.references import Problem, conjugate_minimiser
from support.checks import checks_of, claims_of, figures_of

SEED = 2
FIGURES = figures_of("pal2020")
PARTS = (
    capacity.checks,
    envelope.checks,
    supplement.checks,
    networks.checks,
    characteristic.checks,
    operations.checks,
)
VERDICTS = {  # of claims that need no figure; all others are reproduced
    "theorem_4_1": Verdict.CORRECTED,  # E18
    "corollary_4_2": Verdict.CORRECTED,
    "equation_55": Verdict.CORRECTED,
    "section_1_closed_form": Verdict.EXTENDED,  # E15
    "section_2_3_convexity": Verdict.EXTENDED,
    "section_2_3_full_rank": Verdict.EXTENDED,  # E14
    "section_2_4_time": Verdict.EXTENDED,
}
OTHERWISE_READ = {  # claims whose words in our copy are not what is checked
    *("equation_3", "lemma_2_1", "section_2_2_positive", "theorem_2_3", "theorem_2_7"),
    *("corollary_3_2", "proposition_3_3", "section_3_dropblock", "section_1_nuclear_norm"),
    *("equation_23", "equation_25", "equation_37", "equation_50"),
}
WRONG = {"section_2_2_positive", "equation_55"}  # as printed, of PARTS


def found(seed):
    return [check for part in PARTS for check in part(seed)]


@pytest.fixture(scope="module")
def checks():
    return found(SEED)


def test_what_is_wrong_fails_as_printed_and_every_other_form_holds(checks):
    failing = [check for check in checks if not check.holds]
    assert {check.claim for check in failing} == WRONG
    assert all(check.form == PRINTED for check in failing)
    corrected = {check.claim for check in checks if check.form == CORRECTED}
    assert corrected == {"equation_55"}


def test_the_checks_are_those_of_their_seed(checks):
    assert found(SEED) == checks
    assert found(SEED + 1) != checks


@pytest.fixture(scope="module")
def every_check():
    return checks_of("pal2020", SEED)


def test_every_claim_has_a_check_and_every_check_a_claim(every_check, paper):
    computed = {check.claim for check in every_check}
    assert not computed & FIGURES
    assert set(paper.checks) == computed | FIGURES


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (np.cumsum, 9),
        (lambda a: a * a + 1, 20),
        (lambda a: 1 / a - 2 * a, 30),
        (lambda a: np.abs(-a) > 0.5, 30),
        (lambda a: a[3], 0),
    ],
)
def test_operations_are_counted_one_by_one(work, expected):
    assert operations.operations(work, np.arange(1.0, 11.0)) == expected


def test_the_search_of_theorem_2_7_finds_the_least():
    rng = np.random.default_rng(3)
    for problem in (Problem.random(rng) for _ in range(50)):
        value, a = operations.search(*problem)
        np.testing.assert_allclose(a, conjugate_minimiser(problem), atol=1e-12)
        assert problem.value(a) == pytest.approx(value, rel=1e-12)
    value, a = operations.search(np.array([3.0, 1.0]), 1, 0.5)  # dropout: only rho = 1
    assert value == pytest.approx(Problem(np.array([3.0, 1.0]), 1, 0.5).value(a), rel=1e-12)


def test_counted_numbers_give_the_same_results():
    a = np.random.default_rng(1).exponential(size=50)
    seen = []
    operations.operations(lambda b: seen.append((rho_of(b, 9), threshold(b, 9, 0.3))), a)
    assert seen == [(rho_of(a, 9), threshold(a, 9, 0.3))]


def test_a_panel_tells_on_which_data_it_ran():
    proven, unknown = ({"images": {"verified_by": proof}} for proof in ("SHA-256", None))
    assert data_of(shown_name("cifar10", proven)) == "published"
    assert data_of(shown_name("cifar10", unknown)) == "other"
    assert data_of(shown_name("synthetic", {})) == "synthetic"


@pytest.fixture(scope="module")
def paper():
    return claims_of("pal2020")


def of(entry, checks):
    return [check for check in checks if check.claim in entry.checks]


def test_verdicts_without_figures(paper, every_check):
    decided = {
        claim.id: verdict(of(claim, every_check), claim.accusation is not None)
        for claim in paper.claims
        if not set(claim.checks) & FIGURES
    }
    assert set(VERDICTS) <= set(decided)
    assert decided == {claim: VERDICTS.get(claim, Verdict.REPRODUCED) for claim in decided}
    charitable = {check.claim for check in every_check if check.form == CHARITABLE}
    assert charitable == OTHERWISE_READ


def test_only_the_errors_accuse(paper, every_check):
    kinds = {erratum.id: erratum.kind for erratum in paper.errata}
    assert {name for name, kind in kinds.items() if kind == "error"} == {"E18"}
    for erratum in paper.errata:
        fail = {check.form for check in of(erratum, every_check) if not check.holds}
        assert fail == (set() if erratum.kind == "extension" else {PRINTED}), erratum.id
        assert erratum.quote
        assert erratum.charitable
    accused = {claim.id for claim in paper.claims if claim.accusation}
    assert accused == {claim for claim, found in VERDICTS.items() if found is not Verdict.EXTENDED}


def test_a_claim_without_its_accusation_is_not_reproduced(paper, every_check):
    for claim in paper.claims:
        if claim.accusation:
            assert verdict(of(claim, every_check)) is Verdict.NOT_REPRODUCED


def test_no_check_is_looser_than_its_claim_allows(paper, every_check):
    for claim in paper.claims:
        own = [strictness(check) for check in of(claim, every_check)]
        assert max(own, default=0) <= claim.tolerance, claim.id
