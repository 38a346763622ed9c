"""Mult-DAE of Liang 2018: its network and its fit."""

from typing import Any

import scipy.sparse as sp
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
        return perceptron(arrays, [True] * (len(arrays) - 1) + [False], is_normalised=True)


def fit_mult_dae(
    data: Training,
    *,
    latent: int = 200,
    hidden: int = 0,
    p: float = 0.5,
    ridge: float = 0.01,
    **training: Any,
) -> Fit:
    """Fit Mult-DAE of Liang 2018.

    Its layers are by default items → 200 → items, as in the published code for MovieLens 20M.
    """
    require(hidden >= 0, f"hidden = {hidden}: may not be below 0")
    options = {"hidden": hidden}
    return fit_network("mult_dae", MultDae, data, latent, p, ridge, options, training)
