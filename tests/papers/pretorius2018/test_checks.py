"""The checks and figures of Pretorius 2018, and that other mathematics would fail them."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from lindrop.claims.checks import CORRECTED, PRINTED
from lindrop.dropout.dynamics.modes import Mode
from lindrop.papers.pretorius2018 import as_printed, flows, trainings
from lindrop.papers.pretorius2018.checks import (
    decaying_paths,
    fixed_points,
    mappings,
    noise,
    noise_and_decay,
    noisy_paths,
    rates,
)
from lindrop.papers.pretorius2018.figures import dae_vs_wdae as noise_beside_decay
from lindrop.papers.pretorius2018.figures import dynamics as learning
from lindrop.papers.pretorius2018.figures import rates as optimal_rates
from lindrop.papers.pretorius2018.figures import weight_norms as norms
from support.checks import checks_of, claims_of, figures_of

FIGURES = {
    *figures_of("pretorius2018"),
    *("images_linear_ends", "supp_fig1_range", "relu_range"),
    *("relu_ends", "relu_noise", "relu_inputs"),
}
WRONG_AS_PRINTED = {
    "section_a_loss",
    "section_b_coordinates",
    "section_c_small_start",
    "section_c_solution",
    "section_d_wdae_at_one",
    "section_d_maximum",
    "section_d_dae_rate",
    "section_d_wdae_rate",
    "section_d_ratio",
    "section_e_loss",
    "section_e_wdae",
    "section_e_equivalent",
    "section_f_diagonal",
    "section_f_range",
}


@pytest.fixture(scope="module")
def checks():
    return checks_of("pretorius2018", 1)


@pytest.fixture(scope="module")
def dynamics():
    return learning.data(1)


@pytest.fixture(scope="module")
def dae_vs_wdae():
    return noise_beside_decay.data()


@pytest.fixture(scope="module")
def rate_data():
    return optimal_rates.data()


@pytest.fixture(scope="module")
def weight_norms():
    return norms.data(1)


def failing(found, form):
    return {check.claim for check in found if check.form == form and not check.holds}


def words_of_failing(found):
    return [check.what for check in found if not check.holds]


def test_every_claim_has_a_check_and_every_check_a_claim(checks):
    computed = {check.claim for check in checks}
    assert not computed & FIGURES
    assert set(claims_of("pretorius2018").checks) == computed | FIGURES
    words = [(check.claim, check.form, check.what) for check in checks]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_wrong_as_printed_is_found_and_every_correction_holds(checks, seed):
    found = checks if seed == 1 else checks_of("pretorius2018", seed)
    assert failing(found, PRINTED) == WRONG_AS_PRINTED
    assert failing(found, CORRECTED) == set()
    assert {check.claim for check in found if check.form == CORRECTED} == WRONG_AS_PRINTED
    assert all(np.isfinite([check.computed, check.expected]).all() for check in found)


def test_the_printed_exponent_is_right_for_an_eigenvalue_of_one_only(checks):
    of_paths = [c for c in checks if c.claim == "section_c_solution" and c.form == PRINTED]
    assert [check.holds for check in of_paths] == [False, True, False]


def test_a_wrong_factor_of_the_noise_is_seen(monkeypatch):
    right = noise.expected_loss
    monkeypatch.setattr(noise, "expected_loss", lambda x, w1, w2, s2: right(x, w1, w2, 2 * s2))
    assert failing(noise.checks(1), CORRECTED) == {"section_a_loss"}


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
    assert failing(found, CORRECTED) == {"section_b_coordinates"}


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


def test_another_curvature_is_seen(monkeypatch):
    right = rates.curvature_of_path
    monkeypatch.setattr(rates, "curvature_of_path", lambda mode: 1.2 * right(mode))
    of_rates = {"section_d_maximum", "section_d_dae_rate", "section_d_wdae_rate"}
    assert failing(rates.checks(1), CORRECTED) == of_rates


def test_rates_that_are_not_optimal_are_seen(monkeypatch):
    right = rates.steps_to_learn
    monkeypatch.setattr(
        rates,
        "steps_to_learn",
        lambda modes, found, *case: right(modes, found, *case) * (2 if len(found) == 1 else 1),
    )
    of_rates = {"section_d_dae_rate", "section_d_wdae_rate"}
    assert failing(rates.checks(1), CORRECTED) == of_rates


def test_decays_that_are_no_equivalents_are_seen(monkeypatch):
    def other(lam, eps):
        return Mode(lam, eps=eps), Mode(lam, decay=0.9 * lam * eps / (lam + eps))

    for module in (fixed_points, rates, noise_and_decay):
        monkeypatch.setattr(module, "equivalents", other)
    assert failing(fixed_points.checks(1), CORRECTED) == {"section_e_equivalent"}
    assert "section_d_same_curve" in failing(rates.checks(1), PRINTED)
    assert failing(noise_and_decay.checks(1), PRINTED) == {"faster_than_decay"}


def test_a_noise_that_ignores_less_is_seen(monkeypatch):
    right = noise_and_decay.trajectory
    monkeypatch.setattr(
        noise_and_decay,
        "trajectory",
        lambda mode, *case: right(mode._replace(eps=mode.eps / 2), *case),
    )
    assert "ignored_directions" in failing(noise_and_decay.checks(1), PRINTED)


def test_estimates_of_other_modes_are_seen(monkeypatch):
    right = mappings.rotated_moment
    monkeypatch.setattr(
        mappings, "rotated_moment", lambda x, seen, vectors: right(x, seen, vectors[:, ::-1])
    )
    assert "section_f_estimate" in failing(mappings.checks(1), PRINTED)


def test_paths_that_leave_the_range_are_seen(monkeypatch):
    right = mappings.trajectory

    def beyond(*case):
        w1, w2 = right(*case)
        return 1.1 * w1, w2

    monkeypatch.setattr(mappings, "trajectory", beyond)
    assert failing(mappings.checks(1), CORRECTED) == {"section_f_range"}


def test_the_printed_form_of_section_b_fails_late_where_the_stable_one_does_not():
    mode, late = Mode(1.0, eps=1.0), np.array([1000.0])
    with np.errstate(all="ignore"):
        assert np.isnan(as_printed.hyperbolic_trajectory(mode, 0.4, 1.1, late)).all()
    w1, w2 = flows.trajectory(mode, 0.4, 1.1, late)
    assert (w1 * w2).item() == pytest.approx(0.5, rel=1e-12)


def test_dynamics_lie_on_top_of_each_other(dynamics):
    found = learning.checks(dynamics)
    assert len(found) == 6
    assert all(check.holds for check in found)
    shifted = dynamics.assign(w=dynamics["w"] + 0.02)
    assert not any(check.holds for check in learning.checks(shifted))
    starts = dynamics[dynamics["epoch"] == 0].groupby(["model", "eps"])[["w1", "w2"]]
    assert starts.ngroups == 5
    assert starts.nunique().eq(trainings.RUNS).all(axis=None)
    assert dynamics[["w1", "w2"]].abs().max(axis=None) < trainings.REACH


def test_the_figure_of_the_dynamics(dynamics):
    figure = learning.draw(dynamics)
    titles = [axis.get_title("left") for axis in figure.axes]
    assert titles[:3] == ["AE", "DAE, ε = 1", "DAE, ε = 5"]
    assert titles[4:] == ["WDAE, Nγ = 0.5", "WDAE, Nγ = 0.833"]
    for axis in (*figure.axes[:3], *figure.axes[4:]):
        assert len(axis.lines) == 3 * trainings.RUNS + 1
    ae = dynamics[(dynamics["model"] == "AE") & (dynamics["run"] == 0)]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), ae["w"])


def test_weight_decay_is_slower_than_noise_and_its_printed_exponent_wrong(dae_vs_wdae):
    found = noise_beside_decay.checks(dae_vs_wdae)
    assert words_of_failing(found) == [found[1].what]
    assert found[1].what.startswith("WDAE")
    assert found[1].form == PRINTED
    assert found[1].computed > 0.5
    alike = dae_vs_wdae.drop(columns=["w"]).merge(
        dae_vs_wdae.loc[dae_vs_wdae["model"] == "DAE", ["lam", "eps", "epoch", "w"]]
    )
    assert len(words_of_failing(noise_beside_decay.checks(alike))) >= 3


def test_the_figure_of_noise_and_decay(dae_vs_wdae):
    *axes, colours = noise_beside_decay.draw(dae_vs_wdae).axes
    assert colours.get_ylabel() == "ε"
    assert [len(axis.lines) for axis in axes] == [10] * 3 + [11] * 3
    example = axes[4].lines[-1].get_ydata()  # λ = 1, where the printed form is right
    np.testing.assert_allclose(example, axes[4].lines[5].get_ydata(), atol=1e-9)
    assert np.abs(axes[3].lines[-1].get_ydata() - axes[3].lines[5].get_ydata()).max() > 0.5


def test_printed_rates_make_noise_and_decay_one_curve(rate_data):
    found = optimal_rates.checks(rate_data)
    assert len(found) == 5
    assert [check.what for check in found if not check.holds] == [found[3].what]
    assert found[3].form == PRINTED
    table = rate_data[1]
    printed = table[(table["of"] == "as printed") & np.isclose(table["eps"], 2)]
    assert printed["rate"].tolist() == pytest.approx([1 / 8, 1 / (2 + 2 / 3)])
    assert printed["steps"].nunique() == 1

    assert optimal_rates.curvature_of_code(Mode(1.0, decay=0.5)) == 3
    names = {"WDAE": "WDAE, public code", "WDAE, public code": "WDAE"}
    exchanged = optimal_rates.checks((rate_data[0].replace({"model": names}), table))
    assert {found[1].what, found[2].what} <= set(words_of_failing(exchanged))


def test_the_figure_of_the_rates(rate_data):
    trajectories, differences, optimal, steps, _ = optimal_rates.draw(rate_data).axes
    assert [len(axis.lines) for axis in (trajectories, differences)] == [20, 20]
    printed = np.array([line.get_ydata() for line in differences.lines[10:]])
    assert np.abs(printed).max() < 1e-12
    assert np.abs(differences.lines[5].get_ydata()).max() > 0.1
    assert [len(axis.lines) for axis in (optimal, steps)] == [5, 4]
    dae, wdae, ratio, *_ = (line.get_ydata() for line in optimal.lines)
    np.testing.assert_allclose(ratio, dae / wdae)


def test_noise_keeps_what_decay_forgets(weight_norms):
    found = norms.checks(weight_norms)
    assert len(found) == 7
    assert all(check.holds for check in found)
    assert set(weight_norms["run"]) == set(range(trainings.RUNS + 1))
    small = weight_norms[(weight_norms["run"] == 0) & (weight_norms["epoch"] == 0)]
    np.testing.assert_allclose(small[["w1", "w2"]], 0.01)
    exchanged = weight_norms.replace({"model": {"DAE": "WDAE", "WDAE": "DAE"}})
    wrong = words_of_failing(norms.checks(exchanged))
    assert sum("falls as" in what for what in wrong) == 2
    assert any("last norm of a DAE over" in what for what in wrong)


def test_the_figure_of_the_norms(weight_norms):
    figure = norms.draw(weight_norms)
    planes, products, sizes = (figure.axes[column::3] for column in range(3))
    assert [axis.get_title("left") for axis in planes] == ["DAE, ε = 0.1", "WDAE, Nγ = 0.0909"]
    labels = {text.get_text() for text in products[0].get_legend().get_texts()}
    assert {"from a small start", "from random starts", "gradient descent"} < labels
    for axis in sizes:
        small, descent, *others, _ = axis.lines
        assert to_hex(small.get_color()) != to_hex(others[0].get_color())
        np.testing.assert_allclose(small.get_ydata(), descent.get_ydata(), atol=0.05)


def test_a_seed_gives_the_same_table(dynamics, weight_norms):
    assert learning.data(1).equals(dynamics)
    assert norms.data(1).equals(weight_norms)
    assert not norms.data(2).equals(weight_norms)
