"""A network of Pal 2020 small enough to enumerate all masks, for exact expected losses."""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import PRINTED, Check, Form, equal
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.samplers import Scheme
from lindrop.dropout.structured import loss

KEEP = 0.3
ROUNDING = 1e-12  # relative tolerance for rounding errors


class Net(NamedTuple):
    """Data X and Y, and weights U and V of the network UV'x."""

    x: Matrix
    y: Matrix
    u: Matrix
    v: Matrix

    @property
    def hidden(self) -> Matrix:
        """Hidden nodes V'X of a linear network."""
        return self.v.T @ self.x

    @property
    def features(self) -> Matrix:
        """Features g(X), the hidden nodes after a ReLU."""
        return np.maximum(self.hidden, 0)


def small_net(rng: np.random.Generator, nodes: int) -> Net:
    """A random network; its inputs have a mean, so XX' is far from diagonal."""
    x, y, u, v = (rng.normal(size=shape) for shape in ((4, 5), (3, 5), (3, nodes), (4, nodes)))
    return Net(x + 1, y, u, v)


def every_mask(scheme: Scheme) -> tuple[Matrix, Vector]:
    """Masks z of a scheme, one per row, and their probabilities; rows may be equal."""
    kept, probabilities = outcomes(scheme.coins, scheme.heads)
    return scheme.masks(kept), probabilities


def mean_loss(net: Net, hidden: Matrix, noise: Matrix, probabilities: Vector) -> float:
    """E ‖Y − U diag(z/μ) H‖² (Eq. 13) over finitely many z/μ, the rows of `noise`."""
    return float(probabilities @ loss(net.y, net.u, noise[:, :, None] * hidden))


def mean_dropconnect_loss(net: Net, inputs: Matrix, keep: float) -> float:
    """E ‖Y − (1/θ) U (Z ⊙ V)'M‖² (Eq. 19) over all masks Z."""
    kept, probabilities = outcomes(net.v.size, keep)
    weights = kept.reshape(-1, *net.v.shape) / keep * net.v
    return float(probabilities @ loss(net.y, net.u, weights.transpose(0, 2, 1) @ inputs))


def mean_last_layer_loss(net: Net, hidden: Matrix, keep: float) -> float:
    """E ‖Y − (1/θ) (Z ⊙ U) H‖² over all masks Z of the weights U of the last layer."""
    kept, probabilities = outcomes(net.u.size, keep)
    weights = kept.reshape(-1, *net.u.shape) / keep * net.u
    return float(probabilities @ np.sum((weights @ hidden - net.y) ** 2, axis=(1, 2)))


def agree(claim: str, what: str, formula: float, mean: float, form: Form = PRINTED) -> Check:
    """Check that a formula equals the mean over all masks, up to rounding."""
    return equal(claim, f"{what}; every mask", formula, mean, ROUNDING * abs(mean), form)
