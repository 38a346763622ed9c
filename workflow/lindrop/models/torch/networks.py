"""Layers, base class and loss that the networks share: Mult-VAE, Mult-DAE and CDAE.

All random numbers, including the initial weights, are drawn by NumPy.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.kernels import Array
from lindrop.models.torch.model import Perceptron

BIAS_DEVIATION = 1e-3  # standard deviation of the initial biases, as published

Generator = np.random.Generator


class Batch(NamedTuple):
    """Batch of training users: their numbers, their rows of X, and the number of past updates."""

    users: Array
    x: sp.csr_array
    updates: int


class Autoencoder(nn.Module):
    """Base class of the networks: what the training loop calls."""

    def loss(self, batch: Batch, rng: Generator) -> Tensor:
        """Mean loss per user of a batch, with dropout and noise drawn from `rng`."""
        raise NotImplementedError

    def logits(self, x: sp.csr_array) -> Tensor:
        """Scores of users known by their rows only, users × items, without dropout or noise."""
        raise NotImplementedError

    def perceptron(self) -> Perceptron:
        """Copy of the layers that compute the logits, as NumPy arrays."""
        raise NotImplementedError

    def scores(self, x: sp.csr_array) -> Matrix:
        """Logits as a NumPy array, users × items.

        They equal the scores of `perceptron` up to rounding, but no model has to be copied.
        """
        with torch.no_grad():
            scores: Matrix = self.logits(x.astype(np.float32)).numpy()
            return scores


class Dense(nn.Module):
    """Layer h W + b, which accepts a dense or a sparse h."""

    def __init__(self, inputs: int, outputs: int, rng: Generator):
        super().__init__()
        self.weights = glorot(inputs, outputs, rng)
        bias = rng.normal(0, BIAS_DEVIATION, outputs).astype(np.float32)
        self.bias = nn.Parameter(torch.from_numpy(bias))

    def forward(self, h: Tensor | sp.csr_array) -> Tensor:
        """h W + b, rows of h × outputs; a sparse h reads only the rows of W at its entries."""
        if isinstance(h, Tensor):
            return h @ self.weights + self.bias
        columns, starts = (torch.from_numpy(a.astype(np.int64)) for a in (h.indices, h.indptr[:-1]))
        values = torch.from_numpy(h.data)
        rows = embedding_bag(columns, self.weights, starts, mode="sum", per_sample_weights=values)
        return rows + self.bias


class Stack(nn.Module):
    """Dense layers of the given widths (inputs first), with tanh after every one but the last."""

    def __init__(self, widths: Sequence[int], rng: Generator):
        super().__init__()
        layers = [Dense(*ends, rng) for ends in pairwise(widths)]
        self.layers: Sequence[Dense] = nn.ModuleList(layers)  # type: ignore[assignment]

    def forward(self, h: Tensor | sp.csr_array) -> Tensor:
        """Output of the last layer, rows of h × last width."""
        *inner, last = self.layers
        for layer in inner:
            h = layer(h).tanh()
        result: Tensor = last(h)
        return result

    def squares(self) -> Tensor:
        """Sum of all squared weights, without the biases."""
        return torch.stack([(layer.weights**2).sum() for layer in self.layers]).sum()

    def arrays(self) -> list[tuple[Matrix, Vector]]:
        """Copies of the weights and biases of every layer, which later training does not change."""
        return [(copied(layer.weights), copied(layer.bias)) for layer in self.layers]


def glorot(inputs: int, outputs: int, rng: Generator) -> nn.Parameter:
    """Initial weights (inputs × outputs), uniform in ±√(6 / (inputs + outputs)) (Glorot 2010)."""
    limit = np.sqrt(6 / (inputs + outputs))
    values = rng.uniform(-limit, limit, (inputs, outputs)).astype(np.float32)
    return nn.Parameter(torch.from_numpy(values))


def copied(parameter: Tensor) -> Matrix:
    """NumPy copy of a tensor, which later training does not change."""
    return np.array(parameter.detach().numpy())


def perceptron(
    arrays: list[tuple[Matrix, Vector]], tanh: list[bool], *, is_normalised: bool
) -> Perceptron:
    """Perceptron of the given layers, each with its weights, its bias and whether tanh follows."""
    weights, biases = zip(*arrays, strict=True)
    return Perceptron(weights, biases, tuple(tanh), is_normalised)


def multinomial(logits: Tensor, x: sp.csr_array) -> Tensor:
    """Multinomial loss per user, -Σ x log softmax(logits) (Liang 2018, Eq. 2).

    Computed as Σ x (log Σ exp(logits) - logits).
    """
    users, items, values = entries(x)
    surprise = torch.logsumexp(logits, 1)[users] - logits[users, items]
    return (values * surprise).sum() / len(logits)


def entries(x: sp.csr_array) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and value of every entry of X, as three tensors."""
    users = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    values = torch.from_numpy(x.data.astype(np.float32, copy=False))
    return torch.from_numpy(users), torch.from_numpy(x.indices.astype(np.int64)), values
