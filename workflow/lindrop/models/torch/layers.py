"""Dense layers with tanh between them, whose first one reads sparse rows.

All random numbers, also those of the first weights, are NumPy's.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from lindrop.base.arrays import Matrix, Vector

BIAS_DEVIATION = 1e-3  # of the first biases, as published

Generator = np.random.Generator


class Dense(nn.Module):
    """h W + b; of a sparse h, only the rows of W that it names are read."""

    def __init__(self, inputs: int, outputs: int, rng: Generator):
        super().__init__()
        self.weights = glorot(inputs, outputs, rng)
        bias = rng.normal(0, BIAS_DEVIATION, outputs).astype(np.float32)
        self.bias = nn.Parameter(torch.from_numpy(bias))

    def forward(self, h: Tensor | sp.csr_array) -> Tensor:
        if isinstance(h, Tensor):
            return h @ self.weights + self.bias
        columns, starts = (torch.from_numpy(a.astype(np.int64)) for a in (h.indices, h.indptr[:-1]))
        values = torch.from_numpy(h.data)
        rows = embedding_bag(columns, self.weights, starts, mode="sum", per_sample_weights=values)
        return rows + self.bias


class Stack(nn.Module):
    """Layers of these widths."""

    def __init__(self, widths: Sequence[int], rng: Generator):
        super().__init__()
        layers = [Dense(*ends, rng) for ends in pairwise(widths)]
        self.layers: Sequence[Dense] = nn.ModuleList(layers)  # type: ignore[assignment]

    def forward(self, h: Tensor | sp.csr_array) -> Tensor:
        *inner, last = self.layers
        for layer in inner:
            h = layer(h).tanh()
        result: Tensor = last(h)
        return result

    def squares(self) -> Tensor:
        """The sum of all squared weights, without the biases."""
        return torch.stack([(layer.weights**2).sum() for layer in self.layers]).sum()

    def arrays(self) -> list[tuple[Matrix, Vector]]:
        """Copies of weights and biases: training goes on in the memory of the parameters."""
        return [(copied(layer.weights), copied(layer.bias)) for layer in self.layers]


def glorot(inputs: int, outputs: int, rng: Generator) -> nn.Parameter:
    """First weights."""
    limit = np.sqrt(6 / (inputs + outputs))
    values = rng.uniform(-limit, limit, (inputs, outputs)).astype(np.float32)
    return nn.Parameter(torch.from_numpy(values))


def copied(parameter: Tensor) -> Matrix:
    return np.array(parameter.detach().numpy())
