"""A trained autoencoder as NumPy arrays, which scores users without PyTorch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.kernels import Array


@dataclass(frozen=True)
class Perceptron:
    """Layers h ← h W + b, some followed by tanh; the output of the last layer is the scores."""

    weights: tuple[Matrix, ...]
    biases: tuple[Vector, ...]
    tanh: tuple[bool, ...]
    normalised: bool  # whether every user's row is scaled to length 1 first

    def scores(self, x: sp.csr_array) -> Matrix:
        """Output of the last layer, users × items."""
        h: Any = normalised(x) if self.normalised else x.astype(np.float32)
        for weights, bias, tanh in zip(self.weights, self.biases, self.tanh, strict=True):
            h = h @ weights
            h += bias
            if tanh:
                np.tanh(h, out=h)
        scores: Matrix = h
        return scores

    def parts(self) -> dict[str, Array]:
        """Arrays by name, from which `of` restores the model."""
        named = {"tanh": np.array(self.tanh), "normalised": np.array(self.normalised)}
        for number, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True), 1):
            named |= {f"weights_{number}": weights, f"bias_{number}": bias}
        return named

    @classmethod
    def of(cls, parts: Mapping[str, Array]) -> "Perceptron":
        """Model restored from the arrays that `parts` returned."""
        numbers = range(1, len(parts["tanh"]) + 1)
        return cls(
            tuple(parts[f"weights_{number}"] for number in numbers),
            tuple(parts[f"bias_{number}"] for number in numbers),
            tuple(map(bool, parts["tanh"])),
            bool(parts["normalised"]),
        )


def normalised(x: sp.csr_array) -> sp.csr_array:
    """Copy of X with every row divided by its Euclidean length; empty rows stay empty."""
    x = x.astype(np.float32)  # a copy
    users = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    squares = np.bincount(users, x.data.astype(np.float64) ** 2, x.shape[0])
    x.data /= np.sqrt(squares)[users]
    return x
