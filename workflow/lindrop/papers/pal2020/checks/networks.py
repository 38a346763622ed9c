"""Pal 2020, Section 3 (deep networks), the proof of Theorem 4.1, and Section 5.3."""

from collections.abc import Callable, Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, CORRECTED, Check, at_most, equal, relative_distance
from lindrop.dropout.dropblock import adaptive_keep
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.multistart import minima
from lindrop.dropout.objective import lam_of, squared_norms
from lindrop.dropout.samplers import characteristic_of, dropout, overlapping_dropblock
from lindrop.dropout.structured import loss
from lindrop.papers.pal2020.references import (
    COLUMNS,
    KEPT,
    ROWS,
    STARTS,
    VALUE,
    dropblock_minima,
    least_bound,
    masked_objective,
    near_one,
)
from lindrop.papers.pal2020.small_net import (
    KEEP,
    ROUNDING,
    Net,
    agree,
    every_mask,
    mean_dropconnect_loss,
    mean_loss,
    small_net,
)

NODES, BLOCK = 6, 2
WIDTH = 8  # width d of the networks in descents
STEP = 0.1  # of central differences
CERTAINLY = 0.99  # ratios below it are certainly below 1


def checks(seed: int) -> list[Check]:
    """Checks of SGD, decay and capacity in deep networks, of Eq. 54 and 55, and of Section 5.3."""
    nodes, law, few, data, descent = np.random.default_rng(seed).spawn(5)
    net = small_net(nodes, NODES)
    return [
        *_steps(net, law),
        *_weight_decay(net),
        *_capacity(data, descent),
        *_dropblock(data, descent),
        *_proof_of_theorem_4_1(small_net(few, 3)),
        *_same_rate(),
    ]


def _steps(net: Net, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the mean gradients by U and by the features g(X), through which alone Γ acts."""
    masks, chances = rng.normal(1, 1, (7, NODES)), rng.dirichlet(np.ones(7))
    noise, hidden = masks / (chances @ masks), net.features
    masked = noise[:, :, None] * hidden
    error = net.u @ masked - net.y
    by_u = np.tensordot(chances, 2 * error @ masked.transpose(0, 2, 1), 1)
    by_hidden = np.tensordot(chances, noise[:, :, None] * (2 * net.u.T @ error), 1)
    bar, bias = characteristic_of(masks, chances), net.u @ hidden - net.y
    wanted_u = 2 * (bias @ hidden.T + net.u @ (bar * (hidden @ hidden.T)))
    wanted_hidden = 2 * (net.u.T @ bias + (bar * (net.u.T @ net.u)) @ hidden)
    for of, found, wanted in (("U", by_u, wanted_u), ("g(X)", by_hidden, wanted_hidden)):
        what = f"mean slope by {of} over any law of masks less that of Eq. 14, relative"
        yield equal("section_3_sgd", what, relative_distance(found, wanted), 0, ROUNDING)


def _weight_decay(net: Net) -> Iterator[Check]:
    """Checks that dropout adds weight decay of every u_i and of every node's output g_i(X).

    The slopes of what dropout adds to the loss, by differences of the means over all masks, are
    positive multiples of u_i and g_i(X).
    """
    masks, chances = every_mask(dropout(NODES, KEEP))

    def added(u: Matrix, hidden: Matrix) -> float:
        mean = mean_loss(net._replace(u=u), hidden, masks / KEEP, chances)
        return mean - float(loss(net.y, u, hidden))

    u, hidden = net.u, net.features
    by_u = _slopes(lambda moved: added(moved, hidden), u)
    by_hidden = _slopes(lambda moved: added(u, moved), hidden)
    decay = 2 * lam_of(KEEP)
    of_u = decay * u * squared_norms(hidden.T)
    of_hidden = decay * squared_norms(u)[:, None] * hidden
    for what, found, wanted in (
        ("u_i less 2((1 − θ)/θ)‖g_i(X)‖² u_i", by_u, of_u),
        ("g_i(X) less 2((1 − θ)/θ)‖u_i‖² g_i(X)", by_hidden, of_hidden),
    ):
        what = f"slope of what dropout adds, every mask, by {what}, relative"
        yield equal("section_3_weight_decay", what, relative_distance(found, wanted))


def _slopes(function: Callable[[Matrix], float], at: Matrix) -> Matrix:
    """Slopes by central differences, which are exact for a quadratic function up to rounding."""
    found = np.empty_like(at)
    for place in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[place] = STEP
        found[place] = (function(at + step) - function(at - step)) / (2 * STEP)
    return found


def _capacity(data: np.random.Generator, descent: np.random.Generator) -> Iterator[Check]:
    """Check that dropout shrinks the output, the more the lower θ, if features can be anything."""
    y = data.normal(size=(ROWS, COLUMNS))
    sizes = []
    for keep in sorted(KEPT, reverse=True):
        best = minima(y, WIDTH, lam_of(keep), STARTS, descent)[0]
        sizes.append(np.linalg.norm(best.u @ best.v.T, "nuc"))
    ratios = np.array(sizes) / [np.linalg.norm(y, "nuc"), *sizes[:-1]]
    what = "nuclear norm of the best output / that at the next larger θ (Y at θ = 1), the largest"
    yield at_most("section_3_capacity", what, ratios.max(), CERTAINLY)


def _dropblock(data: np.random.Generator, descent: np.random.Generator) -> Iterator[Check]:
    """Check of DropBlock as Section 3 describes it after Proposition 3.3, at θ(d) (Eq. 7).

    The width is enough for balanced blocks (E15).
    """
    y, x = data.normal(size=(ROWS, COLUMNS)), np.eye(COLUMNS)
    ratios = []
    for keep in KEPT:
        beta, theta = lam_of(keep), adaptive_keep(keep, BLOCK, WIDTH)
        best = dropblock_minima(y, x, BLOCK, beta, WIDTH // BLOCK, descent)[0]
        least = masked_objective(y, x, best.u, best.v, BLOCK, theta)
        ratios.append(least_bound(y, BLOCK, beta) / least)
    what = "min ‖Y − A‖² + ((1 − θ̄)/θ̄)‖A‖², the k-support norm / least mean over all masks at θ(d)"
    yield near_one("section_3_dropblock", what, ratios, VALUE, CHARITABLE)


def _proof_of_theorem_4_1(net: Net) -> Iterator[Check]:
    """Checks of Eq. 54, which adds variances of columns, and of Eq. 55 for them (E18)."""
    exact = _variances(net)
    total = float(loss(net.y, net.u, net.hidden)) + exact.sum() / KEEP**2
    yield agree("equation_54", "Eq. 54", total, mean_dropconnect_loss(net, net.x, KEEP))
    scale = KEEP * (1 - KEEP) * squared_norms(net.u)
    printed = scale * squared_norms(net.hidden.T)
    corrected = scale * (squared_norms(net.x.T) @ net.v**2)
    what = "variance of a column's share, every mask of it / θ(1 − θ)‖u_k‖²"
    yield near_one("equation_55", f"{what} ‖M'v_k‖²", exact / printed)
    yield near_one("equation_55", f"{what} Σ_j v_jk²‖M_j‖²", exact / corrected, form=CORRECTED)


def _variances(net: Net) -> Vector:
    """1' Var[u_k (z_k ⊙ v_k)'M] 1 of every column k, over all masks z_k."""
    kept, chances = outcomes(len(net.v), KEEP)
    shares = np.einsum("wj,jk,jn->wkn", kept, net.v, net.x)
    spread = shares - np.tensordot(chances, shares, 1)
    return np.asarray(squared_norms(net.u) * (chances @ np.sum(spread**2, axis=2)))


def _same_rate() -> Iterator[Check]:
    """Check of how often overlapping blocks keep a node.

    A node is in reach of r seeds, each of which does not drop it with probability θ.
    """
    block, ratios = 5, []
    for keep in KEPT:
        masks, chances = every_mask(overlapping_dropblock(1, keep, block))
        ratios.append(float(chances @ masks[:, 0]) / keep)
    what = f"overlapping blocks of {block}, seeds kept with θ: how often a node is kept / θ"
    yield at_most("section_5_3_same_rate", f"{what}, the largest", max(ratios), CERTAINLY)
