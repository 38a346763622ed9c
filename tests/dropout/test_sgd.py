"""Algorithm 1 of Mianjy 2018: its mean step over every mask, each step as printed, its end."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from lindrop.claims.verdicts import Verdict, verdict
from lindrop.dropout import objective as exact
from lindrop.dropout.sgd import (
    BLOCK,
    dropout_sgd,
    products,
    tied_dropout_sgd,
    train_rows,
    train_tied_rows,
)
from lindrop.papers.mianjy2018 import convergence as figure_3
from lindrop.papers.mianjy2018.convergence import (
    convergence,
    random_frame,
    summary,
    target,
)
from lindrop.papers.mianjy2018.figures import fig3

OUTPUTS, INPUTS, NODES, ETA = 5, 4, 3, 0.1


def problem(outputs=OUTPUTS, inputs=INPUTS, nodes=NODES):
    """M, U and V."""
    rng = np.random.default_rng(outputs)
    shapes = (outputs, inputs), (outputs, nodes), (inputs, nodes)
    return [rng.normal(scale=0.5, size=shape) for shape in shapes]


def printed_step(u, v, x, y, b, keep, eta):
    """Line 4 of Algorithm 1, letter by letter."""
    b = np.diag(b.astype(float))
    to_u = np.outer(u @ b @ v.T @ x / keep - y, x) @ v @ b
    to_v = np.outer(x, x @ v @ b @ u.T / keep - y) @ u @ b
    return u - eta * to_u, v - eta * to_v


def printed_tied_step(u, x, y, b, keep, eta):
    ours, theirs = printed_step(u, u, x, y, b, keep, eta)
    return ours + theirs - u


def every_sample(inputs, nodes, keep):
    """Inputs with E[xx'] = I, each with every mask, and the probability of the two."""
    for x in np.sqrt(inputs) * np.vstack((np.eye(inputs), -np.eye(inputs))):
        for b in product((False, True), repeat=nodes):
            kept = np.array(b)
            yield x, kept, np.prod(np.where(kept, keep, 1 - keep)) / (2 * inputs)


def mean_change(m, rows, keep, train):
    """The expected change of the weights (U' and V', or U' alone) by one step."""
    total = [np.zeros_like(part) for part in rows]
    for x, b, probability in every_sample(m.shape[1], len(rows[0]), keep):
        trained = [part.copy() for part in rows]
        train(*trained, x[None], (m @ x)[None], b[None], keep, np.array([ETA]))
        for change, after, before in zip(total, trained, rows, strict=True):
            change += probability * (after - before)
    return [change.T for change in total]


def rows_of(*weights):
    return [np.ascontiguousarray(part.T) for part in weights]


@pytest.mark.parametrize("lam", [0.1, 0.5, 1.0, 4.0])
def test_the_mean_step_is_half_of_theta_times_the_gradient(lam):
    m, u, v = problem()
    keep = exact.keep_of(lam)
    found = mean_change(m, rows_of(u, v), keep, train_rows)
    for change, slope in zip(found, exact.gradient(m, u, v, lam), strict=True):
        np.testing.assert_allclose(change, -ETA * keep / 2 * slope, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_so_is_that_of_tied_weights(lam):
    m, u, _ = problem(4, 4)  # not symmetric
    keep = exact.keep_of(lam)
    (change,) = mean_change(m, rows_of(u), keep, train_tied_rows)
    slope = exact.tied_gradient(m, u, lam)
    np.testing.assert_allclose(change, -ETA * keep / 2 * slope, rtol=1e-12, atol=1e-14)


def samples(steps, inputs, nodes, keep, rng):
    """What `dropout_sgd` draws, a step at a time."""
    for step in range(steps):
        if step % BLOCK == 0:
            x = rng.standard_normal((BLOCK, inputs))
            b = rng.random((BLOCK, nodes), dtype=np.float32) < keep
        yield x[step % BLOCK], b[step % BLOCK]


@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_every_step_is_the_printed_one(keep):
    m, u, v = problem(12, 9, 5)
    steps = 2 * BLOCK + 50
    rates = 0.02 * (1 - np.arange(steps) / steps)
    ((u_t, v_t),) = dropout_sgd(m, u, v, keep, rates, [steps], np.random.default_rng(3))
    drawn = samples(steps, 9, 5, keep, np.random.default_rng(3))
    dropped = 0
    for eta, (x, b) in zip(rates, drawn, strict=True):
        u, v = printed_step(u, v, x, m @ x, b, keep, eta)
        dropped += np.sum(~b)
    assert (dropped == 0) == (keep == 1)
    assert np.linalg.norm(m - u @ v.T) < 0.7 * np.linalg.norm(m)
    np.testing.assert_allclose(u_t, u, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(v_t, v, rtol=1e-12, atol=1e-12)


def test_every_tied_step_is_the_sum_of_both_printed_ones():
    m, u, _ = problem(7, 7, 5)
    steps, keep = 2 * BLOCK, 0.6
    rates = np.full(steps, 0.01)
    (u_t,) = tied_dropout_sgd(m, u, keep, rates, [steps], np.random.default_rng(3))
    for x, b in samples(steps, 7, 5, keep, np.random.default_rng(3)):
        u = printed_tied_step(u, x, m @ x, b, keep, 0.01)
    np.testing.assert_allclose(u_t, u, rtol=1e-12, atol=1e-12)


def test_checkpoints_change_nothing_and_start_with_the_start():
    m, u, v = problem()
    rates = np.full(300, 0.01)
    every, few = (
        list(dropout_sgd(m, u, v, 0.5, rates, at, np.random.default_rng(1)))
        for at in (range(301), (0, 7, BLOCK, 300))
    )
    np.testing.assert_array_equal(every[0][0], u)
    for step, iterates in zip((0, 7, BLOCK, 300), few, strict=True):
        for a, b in zip(every[step], iterates, strict=True):
            np.testing.assert_array_equal(a, b)
    assert not np.array_equal(few[1][0], few[2][0])


def test_a_node_that_is_dropped_keeps_its_weights():
    _, u, v = problem()
    u_rows, v_rows = rows_of(u, v)
    b = np.array([[True, False, True]])
    train_rows(u_rows, v_rows, np.ones((1, INPUTS)), np.ones((1, OUTPUTS)), b, 0.5, np.ones(1))
    for after, before in ((u_rows, u.T), (v_rows, v.T)):
        np.testing.assert_array_equal(np.all(after == before, axis=1), ~b[0])


def test_without_dropout_it_learns_the_whole_matrix():
    m, u, v = problem(nodes=INPUTS)
    rates = np.full(50_000, 0.05)
    ((u_t, v_t),) = dropout_sgd(m, u, v, 1.0, rates, [len(rates)], np.random.default_rng(0))
    np.testing.assert_allclose(u_t @ v_t.T, m, atol=1e-9)


def test_arrays_that_do_not_fit_are_refused():
    m, u, v = problem()
    rng = np.random.default_rng(0)
    for wrong in ((m.T, u, v), (m, u[:, :2], v), (m, u[:4], v)):
        with pytest.raises(ValueError, match="M is"):
            next(dropout_sgd(*wrong, 0.5, np.ones(5), [5], rng))
    with pytest.raises(ValueError, match="M is"):
        next(tied_dropout_sgd(m, u, 0.5, np.ones(5), [5], rng))
    with pytest.raises(ValueError, match="5 steps do not reach the checkpoint 6"):
        next(dropout_sgd(m, u, v, 0.5, np.ones(5), [0, 6], rng))


def test_products_and_the_objective_without_blas():
    m, u, v = problem(12, 9, 5)
    np.testing.assert_allclose(products(u, v), u @ v.T, rtol=1e-13, atol=1e-13)
    assert figure_3.objective(m, u, v, 0.3) == pytest.approx(
        exact.objective(m, u, v, 0.3), rel=1e-13
    )


def test_the_target_has_the_stated_spectrum_and_no_preferred_direction():
    m = target(np.random.default_rng(0))
    assert m.shape == (120, 80)
    sigma = np.linalg.svd(m, compute_uv=False)
    np.testing.assert_allclose(sigma, np.exp(-np.arange(80) / 10), rtol=1e-10)
    rng = np.random.default_rng(0)
    frames = np.array([random_frame(4, 2, rng) for _ in range(2_000)])
    np.testing.assert_allclose(
        frames.transpose(0, 2, 1) @ frames, np.broadcast_to(np.eye(2), (2_000, 2, 2)), atol=1e-12
    )
    assert np.abs(frames.mean(axis=0)).max() < 4 * 0.5 / np.sqrt(2_000)  # QR alone: all of one sign


@pytest.fixture
def small(monkeypatch):
    for name, value in {"OUTPUTS": 6, "INPUTS": 5, "DECAY": 2.0, "RATE": 0.03}.items():
        monkeypatch.setattr(figure_3, name, value)


def test_it_converges_to_the_global_optimum(small):
    curves = convergence(1, 3, steps=100_000, widths=(3, 5), lams=(0.5, 1.0))
    assert (curves["objective"] >= curves["optimum"]).all()
    ends = summary(curves)
    assert len(ends) == 4
    assert ends["gap"].between(0, 0.02).all()
    assert (ends["variance_share"] < 0.02).all()


def test_threads_and_further_runs_change_no_bit(small, monkeypatch):
    found = []
    for threads in "1", "2":
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(convergence(1, 2, steps=2_000, widths=(2, 3)))
    pd.testing.assert_frame_equal(*found, check_exact=True)
    alone = convergence(1, 1, steps=2_000, widths=(2, 3))
    first = found[0][found[0]["run"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, first, check_exact=True)
    ends = found[0].groupby(["width", "lam", "run"])["objective"].last()
    assert ends.nunique() == 12  # every run has its own numbers


def invented(final=1.01, bump=0.0, slower=1.0, left=0.0, runs=10):
    """Runs whose variance falls as 1/(1 + λ step), a little apart; of λ = 1 it may be slower."""
    curves = pd.DataFrame(
        product((20, 80), (0.1, 0.5, 1.0), range(1, runs + 1), range(0, 1000, 5)),
        columns=["width", "lam", "run", "step"],
    )
    step, lam = curves["step"], curves["lam"]
    fall = 1 / (1 + step * np.where(lam == 1, lam / slower, lam))
    curves["variance"] = (fall + bump * (step == 500) + left) * (1 + curves["run"] / 100)
    curves["objective"] = np.where(step < 995, 9.0, np.where(curves["run"] == runs, final, 1.01))
    return curves.assign(optimum=1.0)


@pytest.mark.parametrize(
    ("curves", "refuted"),
    [
        (invented(), []),
        (invented(final=1.15), ["relative gap"]),
        (invented(final=np.nan), ["relative gap to"]),
        (invented(left=0.011), ["variance of importance"]),
        (invented(slower=2.4), [f"r = {r}: steps until" for r in (20, 80)]),
        (
            invented(slower=5),
            [f"r = {r}: {what} until" for r in (20, 80) for what in ("steps", *2 * ["θ × steps"])],
        ),
    ],
)
def test_every_claim_can_be_refuted(curves, refuted):
    found = [check.what for check in fig3.checks(curves) if not check.holds]
    assert len(found) == len(refuted)
    assert all(map(str.startswith, found, refuted))


@pytest.mark.parametrize("runs", [1, 4])
def test_few_runs_say_nothing_about_how_the_variance_falls(runs):
    found = fig3.checks(invented(bump=0.5, slower=5, runs=runs))
    decided = {check.claim for check in found if np.isfinite(check.computed)}
    undecided = {check.claim for check in found if np.isnan(check.computed)}
    assert decided == {"fig3"}
    assert undecided == {"section_6_speed"}
    for claim in undecided:
        assert verdict([check for check in found if check.claim == claim]) == Verdict.NOT_RUN


def test_weights_that_are_equalised_too_late_are_not_what_the_text_says():
    found = fig3.checks(invented(slower=2.4))
    ours = [check for check in found if check.claim == "section_6_speed"]
    assert verdict(ours) == Verdict.NOT_REPRODUCED


def rises(curves):
    """What the titles of the panels of variances say."""
    titles = [axis.get_title() for axis in fig3.draw(curves).axes]
    return [title for title in titles if "rise" in title]


def test_the_figure_says_how_much_the_variance_rises():
    assert rises(invented()) == ["no rise beyond chance"] * 2
    assert [title[:13] for title in rises(invented(bump=0.01))] == ["rises up to ×"] * 2


def test_noise_around_a_falling_mean_is_no_rise():
    refuted = 0
    for seed in range(20):
        curves = invented()
        noise = np.random.default_rng(seed).normal(1, 0.1, len(curves))
        noisy = curves.assign(variance=curves["variance"] * noise)
        for _, case in noisy.groupby("width"):
            refuted += any(fig3.largest_rise(each) > 1 for each in fig3._variances(case).values())
    assert refuted <= 2


def test_the_time_of_a_power_law_is_found_between_checkpoints():
    steps = np.array([0.0, 3, 30, 300])
    means = np.array([1 / (1 + steps), 2 / (1 + steps) ** 2, np.ones(4)])
    found = fig3.equalised_after(steps, means, 0.1)
    np.testing.assert_allclose(found, [9, np.sqrt(10) - 1, np.inf])


def test_the_figure_says_how_many_runs_it_shows():
    curves = invented(runs=3)
    figure = fig3.draw(curves)
    assert len(figure.axes) == 8
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["mean of 3 runs, the paper: 50", "all runs", "global optimum"]
    assert "995 steps (the paper states no number)" in figure.get_suptitle()
    (legend,) = fig3.draw(invented(runs=50)).legends
    assert legend.get_texts()[0].get_text() == "mean of 50 runs, as in the paper"


def test_the_figures_data_are_its_averages_and_the_final_gap():
    curves = invented()
    data = fig3.table(curves)
    assert len(data) == len(curves) / curves["run"].nunique()
    assert set(data["runs"]) == {curves["run"].nunique()}
    last = data.groupby(["width", "lam"]).last()
    np.testing.assert_allclose(
        last["final_gap"], last["objective_mean"] / last["optimum"] - 1, atol=1e-12
    )
    assert (data["objective_low"] <= data["objective_mean"]).all()
    assert (data["objective_mean"] <= data["objective_high"]).all()
