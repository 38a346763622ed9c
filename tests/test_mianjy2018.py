"""The checks of Mianjy 2018 say what they should, and would say otherwise of other mathematics."""

import numpy as np
import pytest

from lindrop.checks import CORRECTED, PRINTED
from lindrop.dropout import equalise
from lindrop.dropout.optimum import effective_rank
from lindrop.mianjy2018 import algorithms, autoencoders, lemmas, networks
from lindrop.mianjy2018.checks import all_checks
from lindrop.mianjy2018.claims import CLAIMS

WRONG_AS_PRINTED = {
    "lemma_a3_proof",
    "lemma_d1",
    "lemma_d2_proof",
    "section_3",
    "theorem_2_4",
    "theorem_3_4_proof",
    "theorem_3_6",
    "algorithm_3",
    "remark_5_2",
    "e7",
    "e8",
    "e9",
}

PARTS = (lemmas.lemma_checks, autoencoders.autoencoder_checks, networks.network_checks)


@pytest.fixture(scope="module")
def checks():
    return all_checks(1)


def failing(found, form):
    return {check.claim for check in found if check.form == form and not check.holds}


def test_every_claim_has_a_check_and_every_check_a_claim(checks):
    assert {check.claim for check in checks} == set(CLAIMS)
    assert len(set(CLAIMS)) == len(CLAIMS)


def test_what_is_wrong_as_printed_is_found_and_every_correction_holds(checks):
    assert failing(checks, PRINTED) == WRONG_AS_PRINTED
    assert failing(checks, CORRECTED) == set()
    assert {check.claim for check in checks if check.form == CORRECTED} >= {
        "theorem_2_4",
        "theorem_3_6",
        "algorithm_3",
        "remark_5_2",
        "lemma_a3_proof",
    }


def test_numbers_are_finite_and_words_are_unique_within_a_claim(checks):
    assert all(np.isfinite([check.computed, check.expected]).all() for check in checks)
    words = [(check.claim, check.form, check.what) for check in checks]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("seed", [2, 3])
def test_verdicts_do_not_hang_on_the_seed(seed):
    found = [check for part in PARTS for check in part(seed)]
    assert failing(found, PRINTED) == WRONG_AS_PRINTED & {check.claim for check in found}
    assert failing(found, CORRECTED) == set()


def test_a_wrong_threshold_is_seen(monkeypatch):
    def one_less(values, r, lam):
        return max(effective_rank(values, r, lam) - 1, 0)

    monkeypatch.setattr("lindrop.dropout.optimum.effective_rank", one_less)
    assert "theorem_2_4" in failing(autoencoders.autoencoder_checks(1), CORRECTED)
    assert "theorem_3_6" in failing(networks.network_checks(1), CORRECTED)


def test_a_rotation_that_does_not_equalise_is_seen(monkeypatch):
    def identity(u):
        return np.eye(u.shape[1])

    monkeypatch.setattr(equalise, "equalizer", identity)
    monkeypatch.setattr(autoencoders, "equalizer", identity)
    assert failing(autoencoders.autoencoder_checks(1), PRINTED) >= {"theorem_2_2", "algorithm_2"}
    assert "theorem_3_3" in failing(networks.network_checks(1), PRINTED)
    rng = np.random.default_rng(1)
    assert "algorithm_3" in failing(algorithms._algorithm_3(rng), CORRECTED)


def test_a_wrong_regulariser_is_seen(monkeypatch):
    monkeypatch.setattr(lemmas, "lam_of", lambda keep: 1 - keep)
    assert failing(lemmas.lemma_checks(1), PRINTED) >= {"lemma_a1", "algorithm_1"}


def test_growth_is_the_exponent_of_a_power_law():
    assert algorithms.growth([1, 2, 4], [3.0, 12.0, 48.0]) == pytest.approx(2)
    assert algorithms.processor_seconds(lambda: sum(range(10_000))) > 0
