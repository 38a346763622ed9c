"""A network small enough for every mask in turn: expectations over masks without sampling."""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import PRINTED, Check, Form, equal
from lindrop.dropout.enumeration import outcomes
from lindrop.dropout.samplers import Scheme
from lindrop.dropout.structured import loss

KEEP = 0.3
ROUNDING = 1e-12  # relative


class Net(NamedTuple):
    """Data and weights; UV'x is to be y."""

    x: Matrix
    y: Matrix
    u: Matrix
    v: Matrix

    @property
    def hidden(self) -> Matrix:
        return self.v.T @ self.x

    @property
    def features(self) -> Matrix:
        """g(X) where the hidden nodes have a ReLU."""
        return np.maximum(self.hidden, 0)


def small_net(rng: np.random.Generator, nodes: int) -> Net:
    """Inputs with a mean, hence correlated."""
    x, y, u, v = (rng.normal(size=shape) for shape in ((4, 5), (3, 5), (3, nodes), (4, nodes)))
    return Net(x + 1, y, u, v)


def every_mask(scheme: Scheme) -> tuple[Matrix, Vector]:
    """z by row, and how probable it is; a mask may come twice."""
    kept, probabilities = outcomes(scheme.coins, scheme.heads)
    return scheme.masks(kept), probabilities


def mean_loss(net: Net, hidden: Matrix, noise: Matrix, probabilities: Vector) -> float:
    """E ‖Y − U diag(z/μ) H‖² (Eq. 13) over finitely many z/μ."""
    return float(probabilities @ loss(net.y, net.u, noise[:, :, None] * hidden))


def mean_dropconnect_loss(net: Net, inputs: Matrix, keep: float) -> float:
    """E ‖Y − (1/θ) U (Z ⊙ V)'M‖² (Eq. 19) over every Z."""
    kept, probabilities = outcomes(net.v.size, keep)
    weights = kept.reshape(-1, *net.v.shape) / keep * net.v
    return float(probabilities @ loss(net.y, net.u, weights.transpose(0, 2, 1) @ inputs))


def agree(claim: str, what: str, formula: float, mean: float, form: Form = PRINTED) -> Check:
    """A formula against the mean over every mask, to rounding."""
    return equal(claim, f"{what}; every mask", formula, mean, ROUNDING * abs(mean), form)
