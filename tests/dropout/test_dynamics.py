"""Learning dynamics of one mode: closed forms against integration, limits and invariants."""

import numpy as np
import pytest
from scipy.special import ive, kve

from lindrop.dropout.dynamics.descent import gradient_descent, integrate, steps_to_learn
from lindrop.dropout.dynamics.loss import expected_loss, gradient
from lindrop.dropout.dynamics.loss import loss as corrupted_loss
from lindrop.dropout.dynamics.modes import (
    Mode,
    curvature_of_path,
    curvature_printed,
    equivalents,
    flow,
    hessian,
    largest_curvature,
    loss,
)
from lindrop.dropout.dynamics.trajectories import log_bessel, trajectory

MODES = [
    Mode(1.0),
    Mode(2.5, eps=5.0),
    Mode(1.0, decay=0.5),
    Mode(1.3, eps=0.3, decay=0.1),
    Mode(1.0, decay=0.001),
    Mode(1.0, decay=1.0),
    Mode(1.0, eps=0.7, decay=1.5),
    Mode(0.5, decay=20.0),
]
STARTS = np.array(
    [
        (0.7, 1.9),
        (-0.7, 1.9),
        (1.9, -0.7),
        (-1.9, -0.7),
        (0.0, 1.1),
        (1.2, 1.2),
        (-1.2, -1.2),
        (0.9, -0.9),
        (0.0, 0.0),
        (1.0, 1.0 + 1e-9),
        (1e-3, -1e-3 - 1e-9),
        (2e-6, -1e-6),
    ]
).T
ON_THE_SADDLE = STARTS[0] == -STARTS[1]
TIMES = np.concatenate([[0], np.geomspace(1e-5, 25, 50)])


def paths(mode, starts=STARTS, times=TIMES):
    return np.array(trajectory(mode, starts[0][:, None], starts[1][:, None], times))


@pytest.mark.parametrize("mode", MODES)
def test_the_closed_form_is_the_flow_integrated(mode):
    expected = np.array(integrate(mode, *STARTS, TIMES))
    np.testing.assert_allclose(paths(mode), expected, atol=1e-9)
    np.testing.assert_allclose(paths(mode)[:, :, 0], STARTS, atol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_it_ends_where_it_should_and_no_time_is_too_late_or_too_short(mode):
    times = np.array([0, 1e-300, 1e-9, 1, 1e3, 1e12, 1e300])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        w1, w2 = paths(mode, times=times)
    ends = np.where(ON_THE_SADDLE, 0, mode.fixed_point)
    np.testing.assert_allclose((w1 * w2)[:, -1], ends, rtol=1e-12, atol=1e-140)
    np.testing.assert_allclose(w1[:, 1], STARTS[0], atol=1e-14)
    if mode.decay and mode.fixed_point:  # both weights become equal
        np.testing.assert_allclose(w1[~ON_THE_SADDLE, -1], w2[~ON_THE_SADDLE, -1], rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_two_steps_are_one(mode):
    halfway = paths(mode, times=np.array([1.7]))[:, :, 0]
    twice = paths(mode, halfway, np.array([0.9]))
    np.testing.assert_allclose(twice, paths(mode, times=np.array([2.6])), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("mode", MODES)
def test_the_difference_of_squares_falls_at_twice_the_decay(mode):
    w1, w2 = paths(mode)
    start = STARTS[0] ** 2 - STARTS[1] ** 2
    falling = start[:, None] * np.exp(-2 * mode.decay * TIMES)
    np.testing.assert_allclose(w1**2 - w2**2, falling, atol=1e-12)


def test_where_decay_just_equals_the_eigenvalue_learning_is_undone_as_one_over_t():
    mode, late = Mode(1.5, eps=0.5, decay=1.5), np.array([1e5])
    w1, w2 = paths(mode, STARTS[:, :4], late)
    np.testing.assert_allclose(w1 * w2 * 2 * mode.pull * late, 1, rtol=1e-3)


def test_weights_may_be_numbers_and_a_little_decay_is_hardly_any():
    w1, w2 = trajectory(Mode(1.0, decay=1e-4), 0.3, -0.8, 2.0)
    assert np.shape(w1) == ()
    np.testing.assert_allclose((w1, w2), trajectory(Mode(1.0), 0.3, -0.8, 2.0), atol=1e-3)


@pytest.mark.parametrize("order", [0.0, 0.1, 0.5, 1.0, 3.7])
def test_bessel_functions_are_those_of_scipy_in_its_range(order):
    z = np.geomspace(1e-20, 500, 40)
    log_i, log_k = log_bessel(order, z)
    np.testing.assert_allclose(np.exp(log_i - z), ive(order, z), rtol=1e-11)
    np.testing.assert_allclose(np.exp(log_k + z), kve(order, z), rtol=1e-11)


def test_bessel_functions_far_outside_it_obey_their_recurrences():
    order, z = 400.5, np.geomspace(1e-280, 1e4, 30)
    (i0, k0), (i1, k1), (i2, k2) = (log_bessel(order + step, z) for step in range(3))
    middle = 2 * (order + 1) / z
    np.testing.assert_allclose(np.exp(k2 - k1) - np.exp(k0 - k1), middle, rtol=1e-9)
    np.testing.assert_allclose(np.exp(i0 - i1) - np.exp(i2 - i1), middle, rtol=1e-9)
    np.testing.assert_allclose(np.exp(i0 + k1) + np.exp(i1 + k0), 1 / z, rtol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_the_flow_descends_the_loss_and_the_hessian_is_its_derivative(mode):
    w1, w2, step = 0.7, -1.3, 1e-30
    slopes = loss(mode, w1 + step * 1j, w2), loss(mode, w1, w2 + step * 1j)
    np.testing.assert_allclose(flow(mode, w1, w2), -np.imag(slopes) / step, rtol=1e-13)
    columns = flow(mode, w1 + step * 1j, w2), flow(mode, w1, w2 + step * 1j)
    np.testing.assert_allclose(hessian(mode, w1, w2), -np.imag(columns).T / step, rtol=1e-13)


@pytest.mark.parametrize("mode", MODES)
def test_the_loss_is_least_at_the_fixed_point(mode):
    ticks = np.linspace(-2, 2, 161)
    least = np.sqrt(mode.fixed_point)
    assert loss(mode, least, least) <= loss(mode, *np.meshgrid(ticks, ticks)).min() + 1e-15
    np.testing.assert_allclose(flow(mode, least, least), 0, atol=1e-15)


def test_equivalents_share_the_fixed_point_and_nothing_else():
    for lam, eps in ((0.5, 0.2), (2.5, 5.0)):
        dae, wdae = equivalents(lam, eps)
        assert dae.fixed_point == pytest.approx(wdae.fixed_point, rel=1e-14)
        assert dae.eps == eps
        assert wdae.eps == dae.decay == 0
        assert 0 < wdae.decay < lam


def test_gradient_descent_tends_to_the_flow_as_its_rate_shrinks():
    errors = []
    for rate in (0.01, 0.001):
        steps = round(3 / rate)
        path = gradient_descent(MODES[:4], [rate] * 4, *STARTS, steps)[-1]
        ends = [paths(mode, times=np.array([3.0]))[:, :, 0] for mode in MODES[:4]]
        errors.append(np.abs(path - np.swapaxes(ends, 0, 1)).max())
    assert errors[1] < 0.01
    assert 6 < errors[0] / errors[1] < 15


def test_modes_and_starts_are_trained_side_by_side_as_alone():
    rates = [0.01, 0.03]
    both = gradient_descent(MODES[1:3], rates, *STARTS, 50)
    assert both.shape == (51, 2, 2, STARTS.shape[1])
    alone = gradient_descent([MODES[2]], rates[1:], *STARTS[:, 3:4], 50)
    np.testing.assert_array_equal(both[:, :, 1:, 3:4], alone)
    together = integrate(MODES[2], *STARTS, TIMES)
    one = integrate(MODES[2], *STARTS[:, 3:4], TIMES)
    np.testing.assert_allclose(np.array(together)[:, 3:4], one, atol=1e-10)


@pytest.mark.parametrize("eps", [0.0, 0.5, 2.0, 5.0])
def test_curvatures_are_the_largest_of_the_path(eps):
    for mode in equivalents(1.0, eps):
        weights, _ = trajectory(mode, 1e-4, 1e-4, np.linspace(0, 150, 2001))
        matrices = np.array([hessian(mode, w, w) for w in weights])
        along = matrices.sum(axis=(1, 2)) / 2
        assert curvature_of_path(mode) == pytest.approx(along.max(), rel=1e-6)
        largest = np.linalg.eigvalsh(matrices).max()
        assert largest_curvature(mode) == pytest.approx(largest, rel=1e-6)
        at_one = hessian(mode, 1.0, 1.0).sum() / 2
        assert curvature_printed(mode) == pytest.approx(at_one, rel=1e-14)


def test_a_rate_of_twice_one_over_the_curvature_is_where_descent_becomes_unstable():
    for mode in equivalents(1.0, 2.0):
        weight = np.array([np.sqrt(mode.fixed_point) * 1.001])
        for share, shrinks in ((1.9, True), (2.1, False)):
            path = gradient_descent([mode], [share / curvature_of_path(mode)], weight, weight, 20)
            error = np.abs(path[:, 0, 0, 0] ** 2 - mode.fixed_point)
            assert (error[-1] < error[0]) == shrinks


def test_a_rate_fit_for_the_path_alone_drives_weights_apart_that_were_not_equal():
    _, wdae = equivalents(1.0, 5.0)
    start = np.array([1e-3]), np.array([0.5e-3])
    apart = []
    for curvature in (curvature_of_path, largest_curvature, curvature_printed):
        path = gradient_descent([wdae], [1 / curvature(wdae)], *start, 3)
        apart.append(abs(path[-1, 0] - path[-1, 1]).item() / 0.5e-3)
    assert apart[0] > 50
    assert apart[1] < 1e-9
    assert apart[2] < 0.1


def test_steps_to_learn_are_those_after_which_w_stays_near():
    dae, wdae = equivalents(1.0, 2.0)
    rates = 1 / curvature_printed(dae), 1 / curvature_of_path(dae), 1 / curvature_printed(wdae)
    modes = [dae, dae, wdae]
    found = steps_to_learn(modes, rates, 1e-3, 200)
    start = np.array([1e-3])
    learned = gradient_descent(modes, rates, start, start, 200).prod(axis=1)[..., 0]
    near = np.abs(learned / dae.fixed_point - 1) <= 0.01
    for case, steps in enumerate(found):
        assert near[steps:, case].all()
        assert not near[steps - 1, case]
    assert found[0] == found[2] > 3 * found[1]
    with pytest.raises(ValueError, match="too few"):
        steps_to_learn(modes, rates, 1e-3, found[0] - 1)


def test_the_expected_loss_is_the_mean_over_all_noise_and_its_gradient_the_slope():
    rng = np.random.default_rng(1)
    x, w1, w2 = (rng.normal(size=shape) for shape in ((3, 4), (2, 3), (3, 2)))
    deviation = 0.6
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    mean = corrupted_loss(x, x + deviation * signs[:, :, None], w1, w2).mean()
    assert expected_loss(x, w1, w2, deviation**2) == pytest.approx(mean, rel=1e-13)
    slopes = gradient(x, w1, w2, deviation**2)
    for which, slope in enumerate(slopes):
        for place in np.ndindex(slope.shape):
            weights = [w1.copy(), w2.copy()]
            values = []
            for step in (-1e-6, 1e-6):
                weights[which][place] = (w1, w2)[which][place] + step
                values.append(expected_loss(x, *weights, deviation**2))
            numeric = (values[1] - values[0]) / 2e-6
            assert slope[place] == pytest.approx(numeric, abs=1e-7)
