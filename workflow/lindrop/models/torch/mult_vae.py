"""Mult-VAE of Liang 2018: its network and its fit."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from lindrop.models.base import Fit, Training, dropped
from lindrop.models.torch.fit import fit_network, require
from lindrop.models.torch.model import Perceptron, normalised
from lindrop.models.torch.networks import (
    Autoencoder,
    Batch,
    Generator,
    Stack,
    multinomial,
    perceptron,
)


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
        return perceptron([*first, mean, *self.decoder.arrays()], inner + inner, is_normalised=True)

    def _moments(self, x: sp.csr_array) -> tuple[Tensor, Tensor]:
        both = self.encoder(x)
        return both[:, : self.latent], both[:, self.latent :]


def annealed(updates: int, steps: int, cap: float) -> float:
    """Weight of the KL divergence: `updates / steps`, at most `cap`; `cap` if `steps` is 0."""
    return min(cap, updates / steps) if steps else cap


def kl_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, variance) ‖ N(0, I)) = ½ Σ (variance + mean² - 1 - log variance), per user."""
    terms = log_variance.exp() + mean**2 - 1 - log_variance
    return terms.sum() / (2 * len(mean))


def fit_mult_vae(
    data: Training,
    *,
    beta: float = 0.2,
    anneal_steps: int = 200_000,
    latent: int = 200,
    hidden: int = 600,
    p: float = 0.5,
    ridge: float = 0.0,
    **training: Any,
) -> Fit:
    """Fit Mult-VAE^PR of Liang 2018; the default β is that of its code for MovieLens 20M."""
    require(
        min(beta, anneal_steps, hidden) >= 0,
        f"β = {beta}, {anneal_steps} steps, hidden = {hidden}: none may be below 0",
    )
    options = {"beta": float(beta), "anneal_steps": anneal_steps, "hidden": hidden}
    return fit_network("mult_vae", MultVae, data, latent, p, ridge, options, training)
