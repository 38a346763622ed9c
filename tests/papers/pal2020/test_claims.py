"""Pal 2020: what the checks of its sections find, and the verdicts that follow."""

import numpy as np
import pytest

from lindrop.claims.checks import CORRECTED
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
from support.checks import checks_of, claims_of, figures_of

SEED = 2
FIGURES = figures_of("pal2020")
CORRECTED_CLAIMS = {
    *("equation_3", "lemma_2_1", "section_1_closed_form", "section_2_2_positive"),
    *("section_2_3_convexity", "section_2_3_full_rank", "theorem_2_3", "section_2_3_k_support"),
    *("theorem_2_7", "corollary_3_2", "proposition_3_3", "section_3_dropblock", "theorem_4_1"),
    *("corollary_4_2", "section_5_3_rate", "equation_23", "equation_25", "equation_37"),
    *("equation_50", "equation_55"),
}
PARTS = (
    capacity.checks,
    envelope.checks,
    supplement.checks,
    networks.checks,
    characteristic.checks,
    operations.checks,
)
WRONG = {
    *("section_2_2_positive", "section_2_3_full_rank", "section_2_3_k_support"),
    *("equation_23", "equation_25", "equation_37", "equation_50", "equation_55"),
    "section_3_dropblock",
}


def found(seed):
    return [check for part in PARTS for check in part(seed)]


@pytest.fixture(scope="module")
def checks():
    return found(SEED)


def test_what_is_wrong_fails_as_printed_and_every_correction_holds(checks):
    failing = [check for check in checks if not check.holds]
    assert {check.claim for check in failing} == WRONG
    assert all(check.form == "as printed" for check in failing)
    assert {check.claim for check in checks if check.form == CORRECTED} == WRONG


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


def test_verdicts_without_figures(paper, every_check):
    decided = {
        claim.id: verdict([check for check in every_check if check.claim in claim.checks])
        for claim in paper.claims
        if set(claim.checks) <= {check.claim for check in every_check}
    }
    corrected = {name for name, of in decided.items() if of is Verdict.CORRECTED}
    assert set(decided.values()) == {Verdict.REPRODUCED, Verdict.CORRECTED}
    assert corrected == CORRECTED_CLAIMS
    for erratum in paper.errata:
        own = [check for check in every_check if check.claim in erratum.checks]
        assert verdict(own) is Verdict.CORRECTED, erratum.id


def test_no_check_is_looser_than_its_claim_allows(paper, every_check):
    for claim in paper.claims:
        own = [strictness(check) for check in every_check if check.claim in claim.checks]
        assert max(own, default=0) <= claim.tolerance, claim.id
