"""Steck 2020, supplement, Section 5: dropout in a deep linear network (E6)."""

from itertools import pairwise

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    EXTENSION,
    LIMIT,
    Check,
    at_most,
    equal,
    relative_distance,
)
from lindrop.dropout.enumeration import outcomes
from lindrop.papers.steck2020.problems import EXACT, ratio
from lindrop.papers.steck2020.sampling import (
    deep_dropout_objective_exact,
    deep_dropout_objective_printed,
)

ROWS, WIDTHS = 4, (3, 2, 3, 3)  # rows of X, and nodes of every layer
LAYERS = len(WIDTHS) - 1
P = 0.4
SEEN = 0.01  # least relative difference that counts

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
    kept, probability, values = _forward(x)
    for weight, masks, drops in zip(net, kept, dropped, strict=True):
        values = (values * masks if drops else values) @ weight
    return float(probability @ np.sum((x - values) ** 2, axis=(1, 2)))


def _forward(x: Matrix) -> tuple[list[Matrix], Vector, Matrix]:
    """Masks of every layer over q, their probabilities, and X once for each of them."""
    kept, probability = outcomes(sum(WIDTHS[:-1]), 1 - P)
    by_layer = np.split(kept[:, None, :] / (1 - P), np.cumsum(WIDTHS[:-2]), axis=2)
    return by_layer, probability, np.broadcast_to(x, (len(kept), *x.shape))


def _chain(p: float) -> float:
    """Mean loss of 1 → 1 → 1 with weights of one at X = 1, over the four masks."""
    q = 1 - p
    return (1 - q**2) + q**2 * (1 - 1 / q**2) ** 2


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
    """Checks of dropout in all layers: a penalty for each, from what enters it in training.

    The sentence gives no formula. Each Λ^(j) comes from the second moments of the nodes of layer j,
    which in training hold the noise of the layers before (E6). The moments here are those of every
    mask; those of the formula for dropout at one layer have no noise.
    """
    mean = enumerated(x, net, [True] * LAYERS)
    plain = float(np.sum((x - x @ np.linalg.multi_dot(net)) ** 2))
    summed = plain + sum(
        ratio(P) * moments @ np.sum(_following(net, layer) ** 2, axis=1)
        for layer, moments in enumerate(_second_moments(x, net))
    )
    recursion = deep_dropout_objective_exact(x.T @ x, net, P)
    without = deep_dropout_objective_printed(x.T @ x, net, P)
    what = "three layers, over the mean loss of every mask:"
    return [
        equal(
            "e6",
            f"{what} ‖X − XB‖² and the layers' penalties, Λ^(j) from what enters layer j",
            summed / mean,
            1,
            EXACT,
            CHARITABLE,
        ),
        equal(
            "e6", f"{what} the recursion of these moments", recursion / mean, 1, EXACT, EXTENSION
        ),
        at_most(
            "e6",
            f"{what} the same with moments of values without noise",
            without / mean,
            1 - SEEN,
            0,
            LIMIT,
        ),
        equal(
            "e6",
            "one feature, two weights, all of them 1: what moments without noise lack, over (p/q)²",
            _smallest_net() / ratio(P) ** 2,
            1,
            EXACT,
            LIMIT,
        ),
    ]


def _second_moments(x: Matrix, net: Net) -> list[Vector]:
    """Second moments of what enters each layer, before its own mask, over every mask."""
    kept, probability, values = _forward(x)
    found = []
    for masks, weight in zip(kept, net, strict=True):
        found.append(probability @ np.sum(values**2, axis=1))
        values = (values * masks) @ weight
    return found


def _following(net: Net, layer: int) -> Matrix:
    """Product of the weights from `layer` on."""
    product = np.eye(net[layer].shape[0])
    for weight in net[layer:]:
        product = product @ weight
    return product


def _smallest_net() -> float:
    """Exact objective minus that without noise in the moments, for X = W₁ = W₂ = 1."""
    one = np.ones((1, 1))
    net = [one, one]
    return _chain(P) - deep_dropout_objective_printed(one, net, P)


def _noise_at_output(x: Matrix, net: Net, layer: int, later: Net) -> float:
    """Mean square of what dropout in `layer` of `net` adds to the output, over every mask.

    The values that enter the layer are those of `net`; from there on they pass through `later`.
    """
    kept, probability, values = _forward(x)
    for weight in net[:layer]:
        values = values @ weight
    added = values * kept[layer] - values
    for weight in later[layer:]:
        added = added @ weight
    return float(probability @ np.sum(added**2, axis=(1, 2)))


def _counted(x: Matrix, net: Net) -> Check:
    """Check of the number of layers whose dropout noise passes through each weight matrix.

    It does if the noise at the output changes with the matrix, the layer's inputs being as before.
    """
    counts = []
    for layer in range(LAYERS):
        other = [2 * weight if layer == i else weight for i, weight in enumerate(net)]
        noises = np.array(
            [[_noise_at_output(x, net, j, later) for j in range(LAYERS)] for later in (net, other)]
        )
        counts.append(np.count_nonzero(~np.isclose(*noises)))
    what = "every mask: penalties that contain a weight matrix, less those of the matrix before it"
    return equal("supplement_5_terms", f"{what}, least", np.diff(counts).min(), 1, 0)


def _expressive(net: Net) -> Check:
    """Check that a product of many layers equals UV' of the width of its narrowest layer."""
    deep, narrowest = np.linalg.multi_dot(net), min(WIDTHS)
    left, values, right = np.linalg.svd(deep)
    shallow = left[:, :narrowest] * values[:narrowest] @ right[:narrowest]
    what = "relative distance of a deep net's B to two layers as wide as its narrowest one"
    return equal("supplement_5_expressive", what, relative_distance(shallow, deep), 0, EXACT)
