"""Pal 2020, Sections 1 to 2.2: dropout as blocks of one node, and what limits capacity."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CHARITABLE, Check, at_least, equal, relative_distance
from lindrop.dropout.dropblock import (
    adaptive_keep,
    balanced_factors,
    beta_at,
    omega,
    squared_block_norms,
)
from lindrop.dropout.objective import importance, lam_of
from lindrop.dropout.samplers import dropblock
from lindrop.dropout.structured import dropout_regulariser, loss
from lindrop.papers.pal2020.references import (
    COLUMNS,
    INPUTS,
    KEPT,
    PRODUCT,
    ROWS,
    VALUE,
    conjugate_norm,
    dropblock_minima,
    full_inputs,
    least_bound,
    near_one,
)
from lindrop.papers.pal2020.small_net import (
    KEEP,
    ROUNDING,
    Net,
    agree,
    every_mask,
    mean_loss,
    small_net,
)

NODES = 6
DOUBLINGS = range(1, 11)
DRAWN = 100  # number of random pairs (U, V), or of factorisations of one product
WIDEST = 32  # largest number of blocks of these factorisations


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 2, of Ω at fixed θ and at θ(d), and of balanced products of norms."""
    nodes, data, descent, factors = np.random.default_rng(seed).spawn(4)
    net = small_net(nodes, NODES)
    return [
        *_dropout(net),
        *_balance(data, descent),
        *_positive(data),
        *_doublings(net),
        *_bounded(data, factors),
    ]


def _dropout(net: Net) -> Iterator[Check]:
    """Checks of Eq. 2, of the masks DropBlockSample(θ, 1), and of Eq. 5 at r = 1."""
    x, y, u, v = net
    masks, chances = every_mask(dropblock(NODES, KEEP, 1))
    formula = float(loss(y, u, net.hidden)) + dropout_regulariser(u, net.hidden, KEEP)
    mean = mean_loss(net, net.hidden, masks / KEEP, chances)
    yield agree("equation_2", "Eq. 2", formula, mean)
    independent = np.where(masks, KEEP, 1 - KEEP).prod(axis=1)
    what = f"r = 1: probability of each of {len(np.unique(masks, axis=0))} masks"
    error = np.abs(chances - independent).max()
    yield equal("section_2_dropout", f"{what} less that of independent nodes", error, 0, ROUNDING)
    products = np.linalg.norm(u, axis=0) * np.linalg.norm(x.T @ v, axis=0)
    ratios = [omega(u, v, x, 1, keep) / (lam_of(keep) * (products @ products)) for keep in KEPT]
    what = "Ω at r = 1 / ((1 − θ)/θ) Σ ‖u_i‖²‖X'v_i‖²"
    yield near_one("section_2_1_dropout", what, ratios, ROUNDING)


def _balance(data: np.random.Generator, descent: np.random.Generator) -> Iterator[Check]:
    """Checks that dropout balances ‖u_i‖‖X'v_i‖, and of its link to the nuclear norm.

    Products of norms are balanced at widths below and above the rank of Y. From its rank on, the
    least loss expected is the least ‖Y − Z‖² + λ‖Z‖_*² with λ = (1 − θ)/(θd).
    """
    y, x = data.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, data)
    spreads, ratios = [], []
    for width in (ROWS - 1, NODES):
        for keep in KEPT:
            best = dropblock_minima(y, x, 1, beta_at(keep, 1, width), width, descent)[0]
            products = importance(best.u, x.T @ best.v)
            spreads.append(np.ptp(products) / products.mean())
            if width >= ROWS:
                ratios.append(best.value / least_bound(y, 1, lam_of(keep) / width))
    what = "best of random starts: spread of ‖u_i‖‖X'v_i‖, relative"
    yield equal("section_1_balance", what, max(spreads), 0, PRODUCT)
    what = "least loss expected of dropout, of descents / min ‖Y − Z‖² + λ‖Z‖_*², λ = (1 − θ)/(θd)"
    yield near_one("section_1_nuclear_norm", what, ratios, VALUE, CHARITABLE)


def _positive(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of whether Ω can be zero.

    It is zero for two nodes of one block that cancel, u(v − v)'X = 0. Wherever the output UV'X is
    not zero, it is positive: by Cauchy-Schwarz at least (1 − θ)/θ · (r/d)‖UV'X‖².
    """
    claim, r = "section_2_2_positive", 2
    x = full_inputs(INPUTS, COLUMNS, rng)
    u, v = rng.normal(size=(ROWS, 1)), rng.normal(size=(INPUTS, 1))
    cancelling = np.hstack((u, u)), np.hstack((v, -v))
    what = "Ω / ‖U‖²‖X'V‖² of two nodes that cancel in one block"
    scale = np.linalg.norm(cancelling[0]) ** 2 * np.linalg.norm(x.T @ cancelling[1]) ** 2
    yield at_least(claim, what, omega(*cancelling, x, r, KEEP) / scale, ROUNDING)
    ratios = []
    for u, v in zip(
        rng.normal(size=(DRAWN, ROWS, NODES)), rng.normal(size=(DRAWN, INPUTS, NODES)), strict=True
    ):
        product = np.linalg.norm(u @ (v.T @ x)) ** 2
        ratios.append(omega(u, v, x, r, KEEP) / (lam_of(KEEP) * product / (NODES // r)))
    what = f"Ω / ((1 − θ)/θ)(r/d)‖UV'X‖² of {DRAWN} pairs (U, V), the least"
    yield at_least(claim, what, min(ratios), 1, ROUNDING, CHARITABLE)


def _doublings(net: Net) -> Iterator[Check]:
    """Checks that each doubling of d halves Ω at fixed θ, so that Ω tends to 0."""
    x, _, u, v = net
    for claim, r in (("lemma_2_2", 2), ("section_2_2_dropout", 1)):
        shares, changes = [], []
        for copies in (2**doubling for doubling in DOUBLINGS):
            many_u, many_v = (np.tile(side, copies) / np.sqrt(copies) for side in (u, v))
            shares.append(copies * omega(many_u, many_v, x, r, KEEP) / omega(u, v, x, r, KEEP))
            changes.append(relative_distance(many_u @ (many_v.T @ x), u @ net.hidden))
        what = f"r = {r}, after 1 to {len(shares)} doublings of d"
        yield near_one(claim, f"Ω at fixed θ times the number of copies / before, {what}", shares)
        yield equal(claim, f"change of UV'X, relative, {what}", max(changes))


def _bounded(data: np.random.Generator, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of lower bounds at θ(d): Ω ≥ β‖A‖² ≥ β‖A‖_F² with the k-support norm ‖A‖."""
    claim, r = "section_2_2_capacity", 2
    a, x = data.normal(size=(ROWS, COLUMNS)), full_inputs(INPUTS, COLUMNS, data)
    norm = conjugate_norm(np.linalg.svd(a, compute_uv=False), r)
    blocks = rng.integers(2, WIDEST + 1, size=DRAWN)
    ratios = [_at_adaptive_keep(*_factorisation(a, x, r * k, rng), x, r) / norm for k in blocks]
    balanced = _at_adaptive_keep(*balanced_factors(a, x, r), x, r) / norm
    what = f"Ω at θ(d) / β‖A‖², the k-support norm, by factors of A; {DRAWN} drawn, the least"
    yield at_least(claim, what, min(ratios), 1, ROUNDING)
    yield near_one(claim, "the same of balanced factors", [balanced])
    yield at_least(claim, "‖A‖², the k-support norm / ‖A‖_F²", norm / np.vdot(a, a), 1, ROUNDING)


def _at_adaptive_keep(u: Matrix, v: Matrix, x: Matrix, r: int) -> float:
    """Ω at θ(d) over β, by Eq. 5 and 7, computed at θ̄ = 1/2, where β = 1."""
    return lam_of(adaptive_keep(0.5, r, u.shape[1])) * float(squared_block_norms(u, v, x, r).sum())


def _factorisation(
    a: Matrix, x: Matrix, nodes: int, rng: np.random.Generator
) -> tuple[Matrix, Matrix]:
    """Random U, V with UV'X = A, for X of full column rank."""
    u, free = rng.normal(size=(len(a), nodes)), rng.normal(size=(nodes, a.shape[1]))
    inverse = np.linalg.pinv(u)
    hidden = inverse @ a + free - inverse @ (u @ free)
    return u, (hidden @ np.linalg.pinv(x)).T
