"""Steck 2020, supplement, Section 5: dropout in a deep linear network (E6)."""

from itertools import pairwise

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, Check, equal, relative_distance
from lindrop.dropout.enumeration import outcomes
from lindrop.papers.steck2020.problems import EXACT, ratio
from lindrop.papers.steck2020.sampling import (
    deep_dropout_objective_exact,
    deep_dropout_objective_printed,
)

ROWS, WIDTHS = 4, (3, 2, 3, 3)  # rows of X, and nodes of every layer
LAYERS = len(WIDTHS) - 1
P = 0.4

Net = list[Matrix]


def checks(seed: int) -> list[Check]:
    """Checks of the objective of dropout in one and in several layers, and of its terms."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, WIDTHS[0]))
    net = [rng.normal(size=shape) for shape in pairwise(WIDTHS)]
    return [_one_layer(x, net), *_several_layers(x, net), _counted(x, net), _expressive(net)]


def enumerated(x: Matrix, net: Net, dropped: list[bool]) -> float:
    """Mean of ‖X − output‖² over all masks, with kept values scaled by 1/q, as in Eq. 2.

    The rows of X share each mask: the mean of a sum over rows is that of independent masks.
    """
    kept, probability = outcomes(sum(WIDTHS[:-1]), 1 - P)
    by_layer = np.split(kept[:, None, :] / (1 - P), np.cumsum(WIDTHS[:-2]), axis=2)
    values = np.broadcast_to(x, (len(kept), *x.shape))
    for weight, masks, drops in zip(net, by_layer, dropped, strict=True):
        values = (values * masks if drops else values) @ weight
    return float(probability @ np.sum((x - values) ** 2, axis=(1, 2)))


def _one_layer(x: Matrix, net: Net) -> Check:
    shares = []
    for layer in range(LAYERS):
        dropped = [layer == other for other in range(LAYERS)]
        shares_dropped = [P if drops else 0.0 for drops in dropped]
        printed = deep_dropout_objective_printed(x.T @ x, net, shares_dropped)
        shares.append(printed / enumerated(x, net, dropped))
    what = "dropout in one of three layers: the printed loss over the mean of every mask"
    worst = max(shares, key=lambda share: abs(share - 1))
    return equal("supplement_5_one_layer", what, worst, 1, EXACT)


def _several_layers(x: Matrix, net: Net) -> list[Check]:
    mean = enumerated(x, net, [True] * LAYERS)
    printed = deep_dropout_objective_printed(x.T @ x, net, P)
    exact = deep_dropout_objective_exact(x.T @ x, net, P)
    lacking = _smallest_net()
    what = "over the mean of every mask: the loss"
    return [
        equal("e6", f"three layers, {what} as printed", printed / mean, 1, EXACT),
        equal("e6", f"three layers, {what} by the recursion", exact / mean, 1, EXACT, CORRECTED),
        equal(
            "e6",
            "1 → 1 → 1, all ones: what the printed loss lacks, over (p/q)²",
            lacking / ratio(P) ** 2,
            1,
            EXACT,
            CORRECTED,
        ),
    ]


def _smallest_net() -> float:
    """Exact objective minus the printed one, for X = W₁ = W₂ = 1."""
    one = np.ones((1, 1))
    exact = deep_dropout_objective_exact(one, [one, one], P)
    return exact - deep_dropout_objective_printed(one, [one, one], P)


def _terms(second: list[Matrix], net: Net) -> Matrix:
    """Penalty ‖Λ^(j)^½ W_j ⋯ W_L‖² of every layer j, from the diagonals of all Λ^(j)."""
    rest, found = np.eye(WIDTHS[-1]), []
    for diagonal, weight in zip(reversed(second), reversed(net), strict=True):
        rest = weight @ rest
        found.append(diagonal @ np.sum(rest**2, axis=1))
    return np.array(found[::-1])


def _counted(x: Matrix, net: Net) -> Check:
    """Check of the number of penalties that contain each weight matrix.

    A weight matrix is in a penalty if the penalty changes with it.
    """
    values, second = x, []
    for weight in net:
        second.append(ratio(P) * np.sum(values**2, axis=0))
        values = values @ weight
    counts = []
    for layer in range(LAYERS):
        other = [2 * weight if layer == i else weight for i, weight in enumerate(net)]
        changed = ~np.isclose(_terms(second, other), _terms(second, net))
        counts.append(np.count_nonzero(changed))
    what = "smallest difference of the counts of penalties in which W_{j+1} and W_j stand"
    return equal("supplement_5_terms", what, np.diff(counts).min(), 1, 0)


def _expressive(net: Net) -> Check:
    """Check that a product of many layers equals UV' of the width of its narrowest layer."""
    deep, narrowest = np.linalg.multi_dot(net), min(WIDTHS)
    left, values, right = np.linalg.svd(deep)
    shallow = left[:, :narrowest] * values[:narrowest] @ right[:narrowest]
    what = "relative distance of a deep net's B to two layers as wide as its narrowest one"
    return equal("supplement_5_expressive", what, relative_distance(shallow, deep), 0, EXACT)
