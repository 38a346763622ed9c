"""Pal 2020, Section 4: DropConnect, which drops single weights, of V or of U (E18)."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, at_most, equal
from lindrop.dropout.objective import lam_of, squared_norms
from lindrop.dropout.samplers import dropout
from lindrop.dropout.structured import (
    dropconnect_gradient,
    dropconnect_regulariser,
    dropconnect_regulariser_as_printed,
    loss,
)
from lindrop.papers.pal2020.references import PRODUCT, factor_minima, near_one
from lindrop.papers.pal2020.small_net import (
    KEEP,
    ROUNDING,
    Net,
    agree,
    every_mask,
    mean_dropconnect_loss,
    mean_last_layer_loss,
    mean_loss,
    small_net,
)

KEEPS = 0.95, 0.6, 0.1  # values of θ; a lower θ has a larger λ
NODES = 6
RANK = 1e-4  # singular values below this share of the largest count as zero


def checks(seed: int) -> list[Check]:
    """Checks of Theorem 4.1 by all masks of a small network, and of low rank by descents."""
    few, more, starts = np.random.default_rng(seed).spawn(3)
    return [*_theorem_4_1(small_net(few, 3)), *_low_rank(small_net(more, NODES), starts)]


def _theorem_4_1(net: Net) -> Iterator[Check]:
    """Checks of Theorem 4.1 as printed, and of the loss that DropConnect has instead (E18).

    The step to Eq. 55 treats the independent entries of a column of Z as one and the same. Where
    MM' is diagonal, the two losses are one. With masks of U in place of V they are one everywhere:
    output i is the sum of z_ik u_ik h_k over k, whose terms are independent.
    """
    relu = np.maximum(net.x - net.x.mean(), 0)
    for claim, of, inputs in (
        ("theorem_4_1", "M: features of a ReLU, MM' not diagonal", relu),
        ("corollary_4_2", "XX' not diagonal", net.x),
    ):
        mean = mean_dropconnect_loss(net, inputs, KEEP)
        error = float(loss(net.y, net.u, net.v.T @ inputs))
        printed = dropconnect_regulariser_as_printed(net.u, net.v, inputs, KEEP)
        corrected = dropconnect_regulariser(net.u, net.v, inputs, KEEP)
        yield agree(claim, f"dropout's loss, {of}", error + printed, mean)
        what = f"loss with the variances of the entries of Z added, {of}"
        yield agree(claim, what, error + corrected, mean, CORRECTED)
        mean = mean_last_layer_loss(net, net.v.T @ inputs, KEEP)
        what = f"dropout's loss, masks of U in place of V, {of}"
        yield agree("section_6_equivalence", what, error + printed, mean)
    yield from _equal_inputs()
    yield from _diagonal(net)


def _diagonal(net: Net) -> Iterator[Check]:
    """Checks that both losses are one where MM' is diagonal, and so on average over white inputs.

    The rows of √b I stand for inputs with E[xx'] = I: the losses depend on the inputs through their
    second moments alone. The outputs are those of a linear network, Y = AX.
    """
    sizes = np.arange(1, 5)[:, None]
    orthogonal = np.linalg.qr(net.x.T)[0].T * sizes
    white = np.sqrt(4) * np.eye(4)
    targets = net.y, net.y[:, :4] @ white
    for of, inputs, y in zip(
        ("MM' diagonal", "E[xx'] = I, mean over inputs, too"),
        (orthogonal, white),
        targets,
        strict=True,
    ):
        case = net._replace(y=y)
        error = float(loss(y, net.u, net.v.T @ inputs))
        printed = dropconnect_regulariser_as_printed(net.u, net.v, inputs, KEEP)
        mean = mean_dropconnect_loss(case, inputs, KEEP)
        yield agree("section_6_equivalence", f"dropout's loss, {of}", error + printed, mean)


def _equal_inputs() -> Iterator[Check]:
    """Checks of one node whose two inputs are equal and whose weights cancel, by all masks.

    Dropout of the node changes nothing, because its value is 0. DropConnect drops one of the two
    weights alone.
    """
    one = np.ones((1, 1))
    net = Net(np.ones((2, 1)), 0 * one, one, np.array([[1.0], [-1.0]]))
    masks, chances = every_mask(dropout(1, KEEP))
    of_dropout = mean_loss(net, net.hidden, masks / KEEP, chances)
    of_dropconnect = mean_dropconnect_loss(net, net.x, KEEP)
    what = f"two equal inputs with weights 1 and −1, Y = 0, θ = {KEEP:g}, every mask: mean loss of"
    yield equal("corollary_4_2", f"{what} dropout", of_dropout, 0, ROUNDING, CORRECTED)
    expected = 2 * lam_of(KEEP)
    what = f"{what} DropConnect, 2(1 − θ)/θ"
    bound = ROUNDING * expected
    yield equal("corollary_4_2", what, of_dropconnect, expected, bound, CORRECTED)


def _low_rank(net: Net, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of E18: DropConnect for UV'X is dropout for UV'D with D = dMat(‖X_j‖).

    Factors of A = UV'D have a regulariser of at least (λ/d)‖A‖_*², so f is at least the minimum of
    the convex ‖Y − AD⁻¹X‖² + (λ/d)‖A‖_*² over A. Every Z gives a lower bound of that minimum. The
    bound of Z = 2(Y − UV'X) is tight at the minimum, and errors of U and V affect it to first
    order.
    """
    claim, over = "section_4_low_rank", "θ = " + ", ".join(f"{keep:g}" for keep in KEEPS)
    ranks, ratios = [], []
    for keep in KEEPS:
        value, product = _least(net, keep, rng)
        singular = np.linalg.svd(product, compute_uv=False)
        ranks.append(int(np.count_nonzero(singular > RANK * singular[0])))
        ratios.append(value / _bound(net, 2 * (net.y - product), keep))
    what = f"rank of UV'X where descents end at θ = {KEEPS[-1]:g}, less that at {KEEPS[0]:g}"
    yield at_most(claim, what, ranks[-1] - ranks[0], -1)
    yield at_most(claim, f"largest rise of this rank over {over}", np.diff(ranks).max(), 0)
    bound = "dual bound on ‖Y − UV'X‖² + (λ/d)‖UV'D‖_*², D = dMat(‖X_j‖)"
    yield near_one(claim, f"least f of descents / {bound}; {over}", ratios, PRODUCT)


def _least(net: Net, keep: float, rng: np.random.Generator) -> tuple[float, Matrix]:
    """f of DropConnect and UV'X, at the best end of descents from random starts."""
    x, y = net.x, net.y

    def value(u: Matrix, v: Matrix) -> float:
        return float(loss(y, u, v.T @ x)) + dropconnect_regulariser(u, v, x, keep)

    def slope(u: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        return dropconnect_gradient(y, u, v, x, keep)

    best = factor_minima(value, slope, (len(y), len(x), NODES), rng)[0]
    return best.value, best.u @ (best.v.T @ x)


def _bound(net: Net, z: Matrix, keep: float) -> float:
    """Dual bound ⟨Y, Z⟩ − ¼‖Z‖² − (d/4λ)‖ZX'D⁻¹‖₂², by the conjugates of both terms."""
    lengths = np.sqrt(squared_norms(net.x.T))
    steepest = np.linalg.norm(z @ (net.x.T / lengths), 2)
    return float(np.vdot(net.y, z) - np.vdot(z, z) / 4 - NODES / (4 * lam_of(keep)) * steepest**2)
