"""The claims of Pretorius 2018 hold, and other mathematics would fail their checks."""

import numpy as np
import pytest

from lindrop.claims.checks import CHARITABLE, EXTENSION, FORMS, PRINTED
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.dropout.dynamics.loss import expected_loss
from lindrop.dropout.dynamics.modes import Mode
from lindrop.papers.pretorius2018 import as_printed, flows
from lindrop.papers.pretorius2018.checks import (
    decaying_paths,
    fixed_points,
    mappings,
    noise,
    noise_and_decay,
    noisy_paths,
    rates,
)
from support.checks import checks_of, claims_of, figures_of, words_of_failing

FIGURES = {
    *figures_of("pretorius2018"),
    *("images_linear_ends", "images_linear_losses", "supp_fig1_range", "relu_range"),
    *("relu_ends", "relu_curves", "relu_noise", "relu_inputs"),
}
BY_CHARITY = {"section_b_coordinates", "section_f_diagonal"}  # hold in the fairest reading only
MISPRINTS = {"e20", "e21"}
OTHERWISE_READ = {  # claims whose words in our copy are not what is checked, or not all of it
    *("section_a_loss", "section_c_solution"),
    *("section_d_wdae_at_one", "section_e_loss", "section_e_wdae"),
}
EXTENDED = {
    "section_c_small_start",
    "section_d_maximum",
    "section_d_dae_rate",
    "section_d_wdae_rate",
    "section_d_ratio",
}


@pytest.fixture(scope="module")
def checks():
    return checks_of("pretorius2018", 1)


def failing(found, form):
    return {check.claim for check in found if check.form == form and not check.holds}


def test_every_claim_has_a_check_and_every_check_a_claim(checks):
    computed = {check.claim for check in checks}
    assert not computed & FIGURES
    assert set(claims_of("pretorius2018").checks) == computed | FIGURES
    words = [(check.claim, check.form, check.what) for check in checks]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_claim_is_reproduced_some_in_the_fairest_reading_and_some_extended(checks, seed):
    found = checks if seed == 1 else checks_of("pretorius2018", seed)
    assert failing(found, PRINTED) == BY_CHARITY | MISPRINTS
    charitable = {check.claim for check in found if check.form == CHARITABLE}
    assert charitable == BY_CHARITY | OTHERWISE_READ
    assert not any(failing(found, form) for form in FORMS if form != PRINTED)
    by_claim = {check.claim: [] for check in found}
    for check in found:
        by_claim[check.claim].append(check)
    verdicts = {
        claim: verdict(of_claim) for claim, of_claim in by_claim.items() if claim not in MISPRINTS
    }
    assert verdicts == {
        claim: Verdict.EXTENDED if claim in EXTENDED else Verdict.REPRODUCED for claim in verdicts
    }
    assert all(np.isfinite([check.computed, check.expected]).all() for check in found)


def test_no_claim_accuses_and_what_is_extended_says_by_what():
    paper = claims_of("pretorius2018")
    assert [(erratum.id, erratum.kind) for erratum in paper.errata] == [
        ("E20", "misprint"),
        ("E21", "misprint"),
        ("E22", "extension"),
    ]
    assert all(claim.accusation is None and claim.instead is None for claim in paper.claims)
    extended = {claim.id for claim in paper.claims if claim.extension}
    assert extended == EXTENDED | {"dynamics", "rates", "images_linear"}


def test_the_exponent_of_our_copy_is_right_for_an_eigenvalue_of_one_only(checks):
    of_paths = [c for c in checks if c.claim == "e21"]
    assert [check.holds for check in of_paths] == [False, True, False]


def test_a_wrong_factor_of_the_noise_is_seen(monkeypatch):
    right = noise.as_printed.expected_loss

    def doubled(x, w1, w2, variance, *, bracketed):
        return right(x, w1, w2, 2 * variance, bracketed=bracketed)

    monkeypatch.setattr(noise.as_printed, "expected_loss", doubled)
    assert failing(noise.checks(1), CHARITABLE) == {"section_a_loss"}


def test_noise_of_another_variance_is_seen(monkeypatch):
    right = noise.every_noise
    monkeypatch.setattr(noise, "every_noise", lambda inputs: 1.1 * right(inputs))
    assert "section_a_trace" in failing(noise.checks(1), PRINTED)


def test_more_noise_in_training_is_seen(monkeypatch):
    right = noise.Noise
    monkeypatch.setattr(noise, "Noise", lambda deviation, rng: right(1.1 * deviation, rng))
    found = noise.checks(1)
    assert failing(found, CHARITABLE) == {"section_a_loss"}
    assert all(
        "as trained" in check.what
        for check in found
        if check.form == CHARITABLE and not check.holds
    )


@pytest.mark.parametrize("module", [noisy_paths, decaying_paths])
def test_another_loss_in_figures_is_seen(monkeypatch, module):
    right = module.loss
    monkeypatch.setattr(module, "loss", lambda *case: 1.001 * right(*case))
    before = words_of_failing(module.checks(1))
    assert any("the loss that figures show" in what for what in before)


def test_the_loss_with_its_bracket_is_that_of_the_library():
    rng = np.random.default_rng(3)
    net = rng.normal(size=(5, 7)), rng.normal(size=(3, 5)), rng.normal(size=(5, 3))
    bracketed = as_printed.expected_loss(*net, 0.4, bracketed=True)
    assert expected_loss(*net, 0.4) == pytest.approx(bracketed, rel=1e-13)


def test_a_flow_without_noise_is_seen(monkeypatch):
    right = noisy_paths.flow
    monkeypatch.setattr(
        noisy_paths, "flow", lambda mode, w1, w2: right(mode._replace(eps=0.0), w1, w2)
    )
    found = noisy_paths.checks(1)
    assert failing(found, PRINTED) >= {"section_b_updates", "section_b_product", "section_b_angle"}


@pytest.mark.parametrize(
    ("module", "name", "part"),
    [
        (noisy_paths, "noisy_updates", noisy_paths.checks),
        (decaying_paths, "decaying_updates", decaying_paths.checks),
    ],
)
def test_other_updates_than_the_losses_descend_by_are_seen(monkeypatch, module, name, part):
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda mode, w1, w2: np.multiply(1.001, right(mode, w1, w2)))
    wrong = words_of_failing(part(1))
    assert sum(what.startswith("updates") for what in wrong) == 3


def test_another_strength_in_the_matrix_is_seen():
    rng = np.random.default_rng
    right = flows.less_matrix_slopes(as_printed.noisy_updates, rng(1), 0.3, 0.0)
    assert np.abs(right).max() < 1e-12
    decaying = flows.less_matrix_slopes(as_printed.noisy_updates, rng(1), 0.3, 0.1)
    assert np.abs(decaying).max() > 0.01


def test_weights_of_the_other_branch_are_seen(monkeypatch):
    right = noisy_paths.hyperbolic_weights
    monkeypatch.setattr(noisy_paths, "hyperbolic_weights", lambda *case: right(*case)[::-1])
    found = noisy_paths.checks(1)
    assert failing(found, CHARITABLE) == {"section_b_coordinates"}


@pytest.mark.parametrize(
    ("name", "wrong", "claims"),
    [
        ("hyperbolic_integral", 1.001, {"section_b_integral"}),
        ("hyperbolic_trajectory", 1.001, {"section_b_solution"}),
    ],
)
def test_other_displays_of_section_b_are_seen(monkeypatch, name, wrong, claims):
    right = getattr(noisy_paths, name)
    monkeypatch.setattr(noisy_paths, name, lambda *case: np.multiply(wrong, right(*case)))
    seen = failing(noisy_paths.checks(1), PRINTED) - {"section_b_coordinates"}
    assert seen == claims


def test_another_time_in_the_displays_is_seen(monkeypatch):
    right = noisy_paths.hyperbolic_solved
    monkeypatch.setattr(noisy_paths, "hyperbolic_solved", lambda e, *case: right(1.001 * e, *case))
    assert "section_b_displays" in failing(noisy_paths.checks(1), PRINTED)


@pytest.mark.parametrize("strength", ["eps", "decay"])
def test_a_closed_form_of_another_mode_is_seen(monkeypatch, strength):
    right = flows.trajectory

    def other(mode, w1, w2, t):
        return right(mode._replace(**{strength: 1.001 * getattr(mode, strength)}), w1, w2, t)

    monkeypatch.setattr(flows, "trajectory", other)
    noisy, decaying = noisy_paths.checks(1), decaying_paths.checks(1)
    wrong = words_of_failing([*noisy, *decaying])
    assert any(("Bessel" if strength == "decay" else "stable form") in what for what in wrong)


def test_wrong_printed_formulas_are_seen(monkeypatch):
    right = noisy_paths.hyperbolic_time, decaying_paths.balanced_time
    monkeypatch.setattr(noisy_paths, "hyperbolic_time", lambda *case: 2 * right[0](*case))
    monkeypatch.setattr(decaying_paths, "balanced_time", lambda *case: 2 * right[1](*case))
    noisy, decaying = noisy_paths.checks(1), decaying_paths.checks(1)
    assert failing(noisy, PRINTED) == {"section_b_coordinates", "section_b_time"}
    assert "section_c_time" in failing(decaying, PRINTED)


@pytest.mark.parametrize("factor", [0.85, 0.99, 1.5])
def test_another_printed_rate_is_seen(monkeypatch, factor):
    right = rates.curvature_printed
    monkeypatch.setattr(rates, "curvature_printed", lambda mode: right(mode) / factor)
    of_rates = {"section_d_dae_rate", "section_d_wdae_rate"}
    assert failing(rates.checks(1), PRINTED) == of_rates


def test_another_curvature_is_seen(monkeypatch):
    right = rates.curvature_of_path
    monkeypatch.setattr(rates, "curvature_of_path", lambda mode: 1.2 * right(mode))
    assert "section_d_maximum" in failing(rates.checks(1), EXTENSION)


def test_rates_that_are_slow_or_diverge_are_seen(monkeypatch):
    right = rates.steps_to_learn
    monkeypatch.setattr(
        rates,
        "steps_to_learn",
        lambda *case: right(*case) + 1,
    )
    of_rates = {"section_d_dae_rate", "section_d_wdae_rate"}
    assert failing(rates.checks(1), EXTENSION) == of_rates
    monkeypatch.undo()
    descent = rates.gradient_descent
    monkeypatch.setattr(
        rates, "gradient_descent", lambda modes, found, *case: descent(modes, [2 * found[0]], *case)
    )
    assert "section_d_dae_rate" in failing(rates.checks(1), EXTENSION)


def test_a_rate_for_equal_weights_alone_is_seen(monkeypatch):
    """The rate of a WDAE's balanced path lets the difference of unequal weights grow."""
    monkeypatch.setattr(rates, "largest_curvature", rates.curvature_of_path)
    with np.errstate(all="ignore"):
        found = list(rates._unequal(5.0, Mode(1.0, decay=5 / 6)))
    grown = [check for check in found if "after a step" in check.what]
    assert [check.holds for check in grown] == [True, False]


def test_another_loss_or_hessian_is_seen(monkeypatch):
    right = rates.noisy_hessian
    monkeypatch.setattr(rates, "noisy_hessian", lambda *case: right(*case).T * [[1, -1], [-1, 1]])
    assert "section_d_hessian" in failing(rates.checks(1), PRINTED)
    monkeypatch.undo()

    def other(*case):
        return 1.001 * as_printed.noisy_loss(*case)

    monkeypatch.setattr(rates, "noisy_loss", other)
    monkeypatch.setattr(rates, "LOSSES", (other, rates.decaying_loss))
    assert {"section_d_dae_rate", "section_d_ratio"} <= failing(rates.checks(1), PRINTED)


def test_decays_that_are_no_equivalents_are_seen(monkeypatch):
    def other(lam, eps):
        return Mode(lam, eps=eps), Mode(lam, decay=0.9 * lam * eps / (lam + eps))

    for module in (fixed_points, rates, noise_and_decay):
        monkeypatch.setattr(module, "equivalents", other)
    assert failing(fixed_points.checks(1), PRINTED) == {"section_e_equivalent"}
    assert "section_d_same_curve" in failing(rates.checks(1), PRINTED)
    assert failing(noise_and_decay.checks(1), PRINTED) == {"faster_than_decay"}


def test_a_noise_that_ignores_less_is_seen(monkeypatch):
    right = noise_and_decay._trained
    monkeypatch.setattr(noise_and_decay, "_trained", lambda x, s2, rng: right(x, s2 / 10, rng))
    failed = [check.what for check in noise_and_decay.checks(1) if not check.holds]
    assert any("low variance" in what for what in failed)
    assert any("λ/(λ + ε)" in what for what in failed)


def test_estimates_of_other_modes_are_seen(monkeypatch):
    right = mappings.rotated_moment
    monkeypatch.setattr(
        mappings, "rotated_moment", lambda x, seen, vectors: right(x, seen, vectors[:, ::-1])
    )
    assert "section_f_estimate" in failing(mappings.checks(1), PRINTED)


def test_paths_and_curves_that_leave_the_range_are_seen(monkeypatch):
    right = mappings.integrate

    def beyond(*case):
        w1, w2 = right(*case)
        return 1.1 * w1, w2

    monkeypatch.setattr(mappings, "integrate", beyond)
    assert failing(mappings.checks(1), PRINTED) - BY_CHARITY == {"section_f_range"}
    monkeypatch.undo()
    theirs = mappings.curves()
    for other in (theirs.assign(ae=theirs["ae"] + 0.02), theirs.assign(dae=theirs["dae"] - 0.02)):
        monkeypatch.setattr(mappings, "curves", lambda other=other: other)
        assert failing(mappings.checks(1), PRINTED) - BY_CHARITY == {"section_f_range"}


def test_small_starts_of_another_product_are_seen(monkeypatch):
    right = decaying_paths.balanced_time
    monkeypatch.setattr(
        decaying_paths, "balanced_time", lambda mode, start, end: right(mode, start**2, end)
    )
    assert "section_c_small_start" in failing(decaying_paths.checks(1), PRINTED)


def test_the_printed_form_of_section_b_fails_late_where_the_stable_one_does_not():
    mode, late = Mode(1.0, eps=1.0), np.array([1000.0])
    with np.errstate(all="ignore"):
        assert np.isnan(as_printed.hyperbolic_trajectory(mode, 0.4, 1.1, late)).all()
    w1, w2 = flows.trajectory(mode, 0.4, 1.1, late)
    assert (w1 * w2).item() == pytest.approx(0.5, rel=1e-12)
