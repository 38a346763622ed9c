"""Networks: Mult-VAE and Mult-DAE of Liang 2018, and CDAE of Wu 2016 as Liang 2018 trained it."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.kernels import Array
from lindrop.models.sampled import dropped
from lindrop.models.torch.layers import Generator, Stack, copied, glorot
from lindrop.models.torch.losses import (
    kl_divergence,
    logistic,
    multinomial,
    sampled_zeros,
    square,
)
from lindrop.models.torch.model import Perceptron, normalised


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


class MultDae(Autoencoder):
    """Mult-DAE (Liang 2018): items → (hidden →) latent (→ hidden) → items, with tanh in between.

    `hidden` is 0 for no layer but the latent one, as in the published code for MovieLens 20M.
    `decay` is the factor of the sum of all squared weights in the loss.
    """

    def __init__(
        self, items: int, rng: Generator, latent: int, hidden: int, p: float, decay: float
    ):
        super().__init__()
        widths = [items, *([hidden] if hidden else []), latent]
        self.stack = Stack([*widths, *widths[-2::-1]], rng)
        self.p, self.decay = p, decay

    def loss(self, batch: Batch, rng: Generator) -> Tensor:
        logits = self.stack(dropped(normalised(batch.x), self.p, rng))
        return multinomial(logits, batch.x) + self.decay * self.stack.squares()

    def logits(self, x: sp.csr_array) -> Tensor:
        logits: Tensor = self.stack(normalised(x))
        return logits

    def perceptron(self) -> Perceptron:
        arrays = self.stack.arrays()
        return _perceptron(arrays, [True] * (len(arrays) - 1) + [False], is_normalised=True)


class MultVae(Autoencoder):
    """Mult-VAE (Liang 2018): an encoder gives the moments of a Gaussian, a decoder the logits.

    The weight of the KL divergence grows linearly to `beta` (Liang 2018, Section 2.2.2). Logits of
    held-out users are decoded from the mean, which has no activation.
    """

    def __init__(
        self,
        items: int,
        rng: Generator,
        latent: int,
        hidden: int,
        p: float,
        decay: float,
        beta: float,
        anneal_steps: int,
    ):
        super().__init__()
        inner = [hidden] if hidden else []
        self.encoder = Stack([items, *inner, 2 * latent], rng)
        self.decoder = Stack([latent, *inner, items], rng)
        self.p, self.decay, self.latent = p, decay, latent
        self.beta, self.anneal_steps = beta, anneal_steps

    def loss(self, batch: Batch, rng: Generator) -> Tensor:
        mean, log_variance = self._moments(dropped(normalised(batch.x), self.p, rng))
        noise = torch.from_numpy(rng.standard_normal(mean.shape, np.float32))
        logits = self.decoder(mean + noise * (log_variance / 2).exp())
        divergence = kl_divergence(mean, log_variance)
        weight = annealed(batch.updates, self.anneal_steps, self.beta)
        penalty = self.decay * (self.encoder.squares() + self.decoder.squares())
        return multinomial(logits, batch.x) + weight * divergence + penalty

    def logits(self, x: sp.csr_array) -> Tensor:
        mean, _ = self._moments(normalised(x))
        logits: Tensor = self.decoder(mean)
        return logits

    def perceptron(self) -> Perceptron:
        *first, (weights, bias) = self.encoder.arrays()
        mean = np.ascontiguousarray(weights[:, : self.latent]), bias[: self.latent]
        inner = [True] * len(first) + [False]
        return _perceptron(
            [*first, mean, *self.decoder.arrays()], inner + inner, is_normalised=True
        )

    def _moments(self, x: sp.csr_array) -> tuple[Tensor, Tensor]:
        both = self.encoder(x)
        return both[:, : self.latent], both[:, self.latent :]


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
        return _perceptron([first, last], [True, False], is_normalised=False)

    def _decoded(self, x: sp.csr_array, vectors: Tensor) -> Tensor:
        logits: Tensor = self.decoder((self.encoder(x) + vectors).tanh())
        return logits


def annealed(updates: int, steps: int, cap: float) -> float:
    """Weight of the KL divergence: `updates / steps`, at most `cap`; `cap` if `steps` is 0."""
    return min(cap, updates / steps) if steps else cap


def _perceptron(
    arrays: list[tuple[Matrix, Vector]], tanh: list[bool], *, is_normalised: bool
) -> Perceptron:
    weights, biases = zip(*arrays, strict=True)
    return Perceptron(weights, biases, tuple(tanh), is_normalised)
