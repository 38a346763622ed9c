"""CDAE of Wu 2016 as Liang 2018 trained it: its network, its losses and its fit."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import softplus

from lindrop.models.base import Fit, Training, dropped
from lindrop.models.torch.fit import fit_network, require
from lindrop.models.torch.model import Perceptron
from lindrop.models.torch.networks import (
    Autoencoder,
    Batch,
    Generator,
    Stack,
    copied,
    entries,
    glorot,
    perceptron,
)

COSTS = ("square", "logistic")


class Cdae(Autoencoder):
    """CDAE (Wu 2016): items and a vector per training user → latent with tanh → items.

    Held-out users have no vector and get the mean of all vectors. Only the sum of the bias and a
    vector matters, so a constant can move from the bias to all vectors without any change for
    training users. With the mean, held-out users do not change either; with a zero vector they
    would. At an optimum the two are the same: the bias has no penalty, so the mean is 0.

    `decay` is the factor of the squared weights and of the batch's squared vectors in the loss.
    """

    def __init__(
        self,
        items: int,
        rng: Generator,
        users: int,
        latent: int,
        p: float,
        decay: float,
        negatives: float,
        cost: str,
    ):
        super().__init__()
        self.encoder, self.decoder = Stack([items, latent], rng), Stack([latent, items], rng)
        self.vectors = glorot(users, latent, rng)
        self.p, self.decay, self.negatives = p, decay, negatives
        self.cost = {"square": square, "logistic": logistic}[cost]

    def loss(self, batch: Batch, rng: Generator) -> Tensor:
        vectors = self.vectors[torch.from_numpy(batch.users)]
        logits = self._decoded(dropped(batch.x.astype(np.float32), self.p, rng), vectors)
        cost = self.cost(logits, batch.x, sampled_zeros(batch.x, self.negatives))
        penalty = self.encoder.squares() + self.decoder.squares() + (vectors**2).sum()
        return cost + self.decay * penalty

    def logits(self, x: sp.csr_array) -> Tensor:
        return self._decoded(x, self.vectors.mean(0))

    def perceptron(self) -> Perceptron:
        (weights, bias), last = *self.encoder.arrays(), *self.decoder.arrays()
        first = weights, bias + copied(self.vectors.mean(0))
        return perceptron([first, last], [True, False], is_normalised=False)

    def _decoded(self, x: sp.csr_array, vectors: Tensor) -> Tensor:
        logits: Tensor = self.decoder((self.encoder(x) + vectors).tanh())
        return logits


def square(logits: Tensor, x: sp.csr_array, zero_weights: Tensor) -> Tensor:
    """Weighted square loss per user, Σ w (x - tanh(logits))².

    w is 1 at the entries of X, and the user's number in `zero_weights` elsewhere.
    """
    users, items, values = entries(x)
    outputs = torch.tanh(logits)
    hit = outputs[users, items]
    everywhere = zero_weights @ (outputs**2).sum(1)
    return (everywhere + ((values - hit) ** 2 - zero_weights[users] * hit**2).sum()) / len(logits)


def logistic(logits: Tensor, x: sp.csr_array, zero_weights: Tensor) -> Tensor:
    """Weighted logistic loss per user, -Σ w (x log σ(logits) + (1 - x) log(1 - σ(logits))).

    w is 1 at the entries of X, and the user's number in `zero_weights` elsewhere.
    """
    users, items, values = entries(x)
    costs = softplus(logits)
    hit = costs[users, items]
    everywhere = zero_weights @ costs.sum(1)
    at_entries = hit - values * logits[users, items] - zero_weights[users] * hit
    return (everywhere + at_entries.sum()) / len(logits)


def sampled_zeros(x: sp.csr_array, negatives: float) -> Tensor:
    """Probability, per user, that a zero is drawn when `negatives` zeros are sampled per entry.

    With these weights the sum over all zeros is the expectation of the sum over the sampled zeros
    of Wu 2016. The probability is at most 1.
    """
    entries = np.diff(x.indptr).astype(np.float32)
    zeros = np.maximum(x.shape[1] - entries, 1)
    return torch.from_numpy(np.minimum(negatives * entries / zeros, 1).astype(np.float32))


def fit_cdae(
    data: Training,
    *,
    negatives: float = 5.0,
    cost: str = "square",
    latent: int = 200,
    p: float = 0.5,
    ridge: float = 1.0,
    **training: Any,
) -> Fit:
    """Fit CDAE of Wu 2016, with the weighted square cost and final tanh that Liang 2018 used.

    `cost="logistic"` takes the logistic cost instead. `negatives` is the expected number of sampled
    zeros per interaction.
    """
    require(negatives > 0, f"{negatives} negatives per entry: must be above 0")
    require(cost in COSTS, f"cost {cost!r}: must be one of {', '.join(COSTS)}")
    options = {"users": int(data.x.shape[0]), "negatives": negatives, "cost": cost}
    return fit_network("cdae", Cdae, data, latent, p, ridge, options, training)
