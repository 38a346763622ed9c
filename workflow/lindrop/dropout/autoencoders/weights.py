"""Weights W₁ and W₂ of an autoencoder x̂ = W₂φ(W₁x) (Pretorius 2018)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError


class Weights(NamedTuple):
    """W₁ (hidden × inputs) and W₂ (inputs × hidden), or a gradient in their shapes."""

    w1: Matrix
    w2: Matrix

    def descend(self, gradient: "Weights", rate: float) -> None:
        """Take one step of gradient descent in place; the gradient is overwritten."""
        for weight, slope in zip(self, gradient, strict=True):
            slope *= rate
            weight -= slope
        if not np.isfinite(self.w1[0, 0]):  # an infinite weight spreads to all within few steps
            raise UserError(f"training diverges with a rate of {rate:g}; choose a smaller one")


def normal_weights(
    inputs: int, hidden: int, deviation: float, rng: np.random.Generator, dtype: npt.DTypeLike
) -> Weights:
    """Initial weights: independent normal numbers of mean 0."""
    shapes = (hidden, inputs), (inputs, hidden)
    return Weights(*(rng.normal(0, deviation, shape).astype(dtype) for shape in shapes))
