"""Every mask of a small network, written out loop by loop, against samplers and formulas."""

from itertools import product

import numpy as np
import pytest

from lindrop.claims.checks import CORRECTED, PRINTED
from lindrop.dropout import structured
from lindrop.dropout.dropblock import fixed_objective
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.objective import lam_of
from lindrop.dropout.samplers import (
    characteristic_of,
    dropblock,
    dropconnect_noise,
    dropout,
    gaussian_noise,
    overlapping_dropblock,
    seed_keep_as_printed,
    seed_keep_of,
)
from lindrop.papers.pal2020.checks import dropconnect, schemes
from lindrop.papers.pal2020.small_net import every_mask, mean_dropconnect_loss, small_net
from lindrop.papers.pal2020.synthetic import Problem, synthetic, train

NODES, KEEP = 6, 0.3
SCHEMES = {
    "dropout": dropout(NODES, KEEP),
    "blocks of 2": dropblock(NODES, KEEP, 2),
    "blocks of 3": dropblock(NODES, KEEP, 3),
    "one block": dropblock(NODES, KEEP, NODES),
    "overlapping 2": overlapping_dropblock(NODES, KEEP, 2),
    "overlapping 4": overlapping_dropblock(NODES, KEEP, 4),
}


def mask(name, coins):
    """z by the paper's words."""
    if name == "dropout":
        return coins
    if name.startswith("overlapping"):
        reach = int(name.split()[1])
        return [int(all(coins[i + j] for j in range(reach))) for i in range(NODES)]
    size = NODES // len(coins)
    return [coins[i // size] for i in range(NODES)]


def distribution(name):
    """Every mask, and its probability."""
    masks, chances = [], []
    for coins in product((0, 1), repeat=SCHEMES[name].coins):
        masks.append(mask(name, coins))
        chances.append(np.prod([KEEP if coin else 1 - KEEP for coin in coins]))
    return np.array(masks, dtype=float), np.array(chances)


@pytest.fixture(scope="module")
def net():
    return small_net(np.random.default_rng(5), NODES)


@pytest.mark.parametrize("name", SCHEMES)
def test_moments_and_objective_are_those_of_every_mask(name, net):
    masks, chances = distribution(name)
    scheme = SCHEMES[name]
    mean = chances @ masks
    np.testing.assert_allclose(mean, scheme.mean, rtol=1e-12)
    second = sum(c * np.outer(z, z) for c, z in zip(chances, masks, strict=True))
    exact = (second - np.outer(mean, mean)) / np.outer(mean, mean)
    np.testing.assert_allclose(scheme.characteristic, exact, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(characteristic_of(masks, chances), exact, rtol=1e-11, atol=1e-12)

    for hidden in (net.hidden, net.features):
        losses = [np.sum((net.y - net.u @ np.diag(z / scheme.mean) @ hidden) ** 2) for z in masks]
        found = structured.losses_of_nodes(net.y, net.u, hidden, masks / scheme.mean)
        np.testing.assert_allclose(found, losses, rtol=1e-12)
        formula = structured.objective(net.y, net.u, hidden, scheme.characteristic)
        assert formula == pytest.approx(chances @ losses, rel=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_enumeration_of_coins_is_the_distribution_of_masks(name):
    masks, chances = distribution(name)
    found, probabilities = every_mask(SCHEMES[name])
    assert probabilities.sum() == pytest.approx(1, rel=1e-12)
    for z in np.unique(masks, axis=0):
        ours = probabilities[np.all(found == z, axis=1)].sum()
        assert ours == pytest.approx(chances[np.all(masks == z, axis=1)].sum(), rel=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_drawn_masks_have_these_moments(name):
    scheme = SCHEMES[name]
    noise = scheme.noise(20_000, np.random.default_rng(8))
    assert noise.shape == (20_000, NODES)
    assert set(np.unique(noise)) <= {0.0, 1 / scheme.mean}
    assert_kept_together(noise > 0, scheme.mean, scheme.characteristic)


def assert_kept_together(kept, mean, characteristic):
    """Pairs of nodes are kept as often as μ and C̄ say, within five standard errors."""
    share = kept.T.astype(float) @ kept / len(kept)
    wanted = mean**2 * (1 + characteristic)
    error = np.sqrt(wanted * (1 - wanted) / len(kept))
    assert np.all(np.abs(share - wanted) < 5 * error)


def test_blocks_of_one_are_dropout(net):
    one = overlapping_dropblock(NODES, KEEP, 1)
    np.testing.assert_allclose(one.characteristic, lam_of(KEEP) * np.eye(NODES), atol=1e-14)
    np.testing.assert_array_equal(dropout(NODES, KEEP).characteristic, lam_of(KEEP) * np.eye(NODES))
    draws = [
        scheme.noise(50, np.random.default_rng(1)) for scheme in (one, dropblock(NODES, KEEP, 1))
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    blockwise = fixed_objective(net.y, net.x, net.u, net.v, 1, KEEP)
    plain = structured.loss(net.y, net.u, net.hidden)
    expected = plain + structured.dropout_regulariser(net.u, net.hidden, KEEP)
    assert blockwise == pytest.approx(expected, rel=1e-12)


def test_nothing_is_dropped_at_keep_1():
    for scheme in (dropblock(NODES, 1.0, 3), overlapping_dropblock(NODES, 1.0, 3)):
        assert np.all(scheme.noise(20, np.random.default_rng(0)) == 1)
        assert not scheme.characteristic.any()


def test_blocks_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="6 nodes are no multiple of a block of 4"):
        dropblock(NODES, KEEP, 4)


def test_rates_of_seeds():
    for keep, block in ((0.3, 4), (0.5, 5), (0.9, 2)):
        assert seed_keep_of(keep, block) ** block == pytest.approx(keep, rel=1e-12)
        printed = seed_keep_as_printed(keep, block)
        assert (1 - printed) ** (2 * block - 1) == pytest.approx(1 - keep, rel=1e-12)
        dropping = seed_keep_as_printed(1 - keep, (block + 1) / 2)
        assert seed_keep_of(keep, block) == pytest.approx(1 - dropping, rel=1e-12)


def test_gaussian_noise_has_any_covariance(net):
    characteristic = SCHEMES["overlapping 4"].characteristic
    noise = gaussian_noise(characteristic, 20_000, np.random.default_rng(2))
    products = (noise - 1)[:, :, None] * (noise - 1)[:, None, :]
    for values, wanted in ((noise, 1), (products, characteristic)):
        error = values.std(axis=0) / np.sqrt(len(values))
        assert np.all(np.abs(values.mean(axis=0) - wanted) < 5 * error)
    losses = structured.loss(net.y, net.u, noise[:, :, None] * net.hidden)
    formula = structured.objective(net.y, net.u, net.hidden, characteristic)
    assert losses.mean() == pytest.approx(formula, abs=5 * losses.std() / np.sqrt(len(losses)))
    with pytest.raises(ValueError, match="negative eigenvalues"):
        gaussian_noise(np.array([[1.0, 2.0], [2.0, 1.0]]), 1, np.random.default_rng(0))


def test_dropconnect_is_the_corrected_formula_and_dropout_only_without_correlation():
    net = small_net(np.random.default_rng(6), 2)
    losses, chances = [], []
    for coins in product((0, 1), repeat=net.v.size):
        z = np.reshape(coins, net.v.shape)
        losses.append(np.sum((net.y - net.u @ (z * net.v).T @ net.x / KEEP) ** 2))
        chances.append(np.prod(np.where(z, KEEP, 1 - KEEP)))
    mean = float(np.dot(losses, chances))
    assert mean_dropconnect_loss(net, net.x, KEEP) == pytest.approx(mean, rel=1e-12)
    plain = structured.loss(net.y, net.u, net.hidden)
    corrected = structured.dropconnect_regulariser(net.u, net.v, net.x, KEEP)
    printed = structured.dropconnect_regulariser_as_printed(net.u, net.v, net.x, KEEP)
    assert plain + corrected == pytest.approx(mean, rel=1e-12)
    assert abs(plain + printed - mean) > 0.05 * mean

    orthogonal = np.linalg.qr(net.x.T)[0].T
    arguments = net.u, net.v, orthogonal, KEEP
    assert structured.dropconnect_regulariser(*arguments) == pytest.approx(
        structured.dropconnect_regulariser_as_printed(*arguments), rel=1e-12
    )


def test_drawn_masks_of_weights():
    noise = dropconnect_noise((3, 2), KEEP, 20_000, np.random.default_rng(4)).reshape(-1, 6)
    assert_kept_together(noise > 0, KEEP, lam_of(KEEP) * np.eye(6))


@pytest.mark.parametrize("name", ["dropout", "overlapping 4"])
def test_the_gradient_is_that_of_the_objective(name, net):
    characteristic = SCHEMES[name].characteristic

    def value(u, v):
        return structured.objective(net.y, u, v.T @ net.x, characteristic)

    assert_slopes(value, structured.gradient(net.y, net.u, net.v, net.x, characteristic), net)


def test_the_gradient_of_dropconnect(net):
    def value(u, v):
        plain = structured.loss(net.y, u, v.T @ net.x)
        return plain + structured.dropconnect_regulariser(u, v, net.x, KEEP)

    assert_slopes(value, structured.dropconnect_gradient(net.y, net.u, net.v, net.x, KEEP), net)


def assert_slopes(value, gradient, net):
    """The gradient agrees with differences of the value in random directions."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        du, dv = rng.normal(size=net.u.shape), rng.normal(size=net.v.shape)
        step = 1e-5
        ahead = value(net.u + step * du, net.v + step * dv)
        behind = value(net.u - step * du, net.v - step * dv)
        slope = np.sum(gradient[0] * du) + np.sum(gradient[1] * dv)
        assert (ahead - behind) / (2 * step) == pytest.approx(slope, rel=1e-7)


def test_outcomes_are_all_and_sure():
    kept, probabilities = outcomes(3, 0.2)
    assert len(np.unique(kept, axis=0)) == 8
    assert probabilities[kept.all(axis=1)] == pytest.approx(0.008)
    assert probabilities.sum() == pytest.approx(1)


def small_problem():
    rng = np.random.default_rng(0)
    x, y, u, v = (rng.normal(size=shape) for shape in ((5, 9), (4, 9), (4, NODES), (5, NODES)))
    return Problem(x, y, u / 3, v / 3, 9)


def nothing(u, v):
    return {}


def by_algorithm_1(problem, masks, steps):
    """The mean over the samples of lines 7 to 9, and the loss of all samples under each mask."""
    u, v, losses = problem.u, problem.v, []
    for z, eta in zip(masks, steps, strict=True):
        change_u, change_v, total = np.zeros_like(u), np.zeros_like(v), 0.0
        for x_t, y_t in zip(problem.x.T, problem.y.T, strict=True):
            error = u @ np.diag(z) @ v.T @ x_t / KEEP - y_t
            change_u += eta / KEEP * np.outer(error, x_t) @ v @ np.diag(z)
            change_v += eta / KEEP * np.outer(x_t, error) @ u @ np.diag(z)
            total += error @ error
        losses.append(total)
        u, v = u - change_u / problem.samples, v - change_v / problem.samples
    return losses


def test_training_is_algorithm_1(monkeypatch):
    monkeypatch.setattr("lindrop.papers.pal2020.synthetic.RATE", 0.1)
    problem, scheme = small_problem(), SCHEMES["blocks of 2"]
    curve = train(
        problem, scheme.noise, nothing, keep=KEEP, iterations=30, rng=np.random.default_rng(3)
    )
    masks = scheme.noise(30, np.random.default_rng(3)) * KEEP
    steps = KEEP * 0.1 / (1 + np.arange(30) / 500)
    losses = by_algorithm_1(problem, masks, steps)
    assert list(curve["iteration"]) == list(range(1, 31))
    np.testing.assert_allclose(curve["stochastic"], losses, rtol=1e-11)
    assert losses[-1] < losses[0]


def test_a_root_of_the_second_moments_stands_for_all_samples(monkeypatch):
    monkeypatch.setattr("lindrop.papers.pal2020.synthetic.RATE", 0.1)
    problem = small_problem()
    m = np.random.default_rng(1).normal(size=(4, 5))
    root = np.linalg.cholesky(problem.x @ problem.x.T)
    curves = [
        train(
            problem._replace(x=x, y=m @ x),
            lambda draws, rng: dropconnect_noise((5, NODES), KEEP, draws, rng),
            lambda u, v: {"norm": float(np.sum(u**2) + np.sum(v**2))},
            keep=KEEP,
            iterations=50,
            rng=np.random.default_rng(3),
        )
        for x in (problem.x, root)
    ]
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-10)


def test_longer_training_continues_a_shorter_one():
    problem, scheme = small_problem(), SCHEMES["dropout"]
    short, long = (
        train(problem, scheme.noise, nothing, keep=KEEP, iterations=n, rng=np.random.default_rng(3))
        for n in (150, 330)
    )
    both = short.merge(long, on="iteration", suffixes=("", "_long"))
    assert len(both) > 100
    np.testing.assert_array_equal(both["stochastic"], both["stochastic_long"])
    np.testing.assert_array_equal(both["smoothed"], both["smoothed_long"])


def test_the_synthetic_set():
    problem, relu = (synthetic(np.random.default_rng(0), inputs) for inputs in ("normal", "relu"))
    assert problem.x.shape == (100, 100)
    assert problem.y.shape == (80, 100)
    assert (problem.u.shape, problem.v.shape) == ((80, 50), (100, 50))
    np.testing.assert_array_equal(problem.u, relu.u)
    m = problem.y @ np.linalg.inv(problem.x)
    np.testing.assert_allclose(m @ relu.x, relu.y, rtol=1e-8, atol=1e-6)
    assert np.linalg.matrix_rank(m, tol=1e-6) == 50
    for of, together in ((problem, 0.0), (relu, 1 / (2 * np.pi))):
        covariance = of.x @ of.x.T / of.samples
        off = covariance[~np.eye(100, dtype=bool)]
        assert off.mean() == pytest.approx(together, abs=0.01)


def checks_of_masks():
    return schemes.checks(7) + dropconnect.checks(7)


def test_the_verdicts():
    checks = checks_of_masks()
    assert {check.claim for check in checks} == {
        *("lemma_2_1", "lemma_3_1", "corollary_3_2", "theorem_4_1", "corollary_4_2", "algorithm_1"),
        *(
            "equation_3",
            "equation_13",
            "equation_15",
            "equation_16",
            "e11",
            "e16",
            "section_6_equivalence",
            "e19",
        ),
        *("section_4_low_rank", "section_5_3_rate"),
    }
    assert all(check.holds for check in checks if check.form != PRINTED)
    wrong = {"theorem_4_1", "corollary_4_2", "e11", "e16", "e19"}
    assert {check.claim for check in checks if check.form == CORRECTED} == wrong
    failing = {check.claim for check in checks if check.form == PRINTED and not check.holds}
    assert failing == wrong


def test_the_mask_of_our_copy_fails_with_either_number_of_coins():
    of_e11 = [c for c in schemes.checks(7) if c.claim == "e11" and c.form == PRINTED]
    assert len(of_e11) == 3
    assert [check.holds for check in of_e11] == [False, True, False]  # r coins: the size is right


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("dropconnect_regulariser", {"theorem_4_1", "corollary_4_2", "section_4_low_rank"}),
        ("dropout_regulariser", {"corollary_3_2", "e16"}),
        ("fixed_objective", {"lemma_2_1", "e11"}),
        ("objective", {"lemma_3_1"}),
        ("regulariser", {"equation_15"}),
        ("seed_keep_of", {"e19"}),
        ("_bound", {"section_4_low_rank"}),
    ],
)
def test_a_wrong_formula_is_seen(name, claims, monkeypatch):
    """A tenth more makes every claim that rests on the formula fail, and no other."""
    before = {(check.claim, check.what) for check in checks_of_masks() if not check.holds}
    for module in (schemes, dropconnect):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, a_tenth_more(getattr(module, name)))
    after = {(check.claim, check.what) for check in checks_of_masks() if not check.holds}
    assert {claim for claim, _ in after - before} == claims


def a_tenth_more(right):
    return lambda *arguments: 1.1 * right(*arguments)


def test_a_regulariser_that_keeps_the_rank_is_seen(monkeypatch):
    """Weight decay on the product shrinks it and cuts nothing."""

    def decay(u, v, x, keep):
        return lam_of(keep) * np.sum((u @ (v.T @ x)) ** 2)

    def gradient(y, u, v, x, keep):
        return structured.gradient(
            y, u, v, x, lam_of(keep) * np.ones((dropconnect.NODES, dropconnect.NODES))
        )

    monkeypatch.setattr(dropconnect, "dropconnect_regulariser", decay)
    monkeypatch.setattr(dropconnect, "dropconnect_gradient", gradient)
    rank, rise, _ = (c for c in dropconnect.checks(7) if c.claim == "section_4_low_rank")
    assert not rank.holds
    assert rise.holds
