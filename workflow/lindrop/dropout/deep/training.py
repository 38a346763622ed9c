"""Training with dropout before the last layer, E ‖Y − U diag(z/μ) g(X)‖² (Pal 2020, Eq. 13).

All of X passes through the network at every iteration. So batch normalisation stays in its training
mode: its means and variances are those of the whole set, and g(X) depends on X and the weights
only.
"""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lindrop.base import checkpoints
from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress, logger
from lindrop.dropout.samplers import Scheme
from lindrop.dropout.structured import objective

SAVED_SECONDS = 120.0  # least time between two checkpoints


class Settings(NamedTuple):
    """Settings of a training, other than network, data and dropout scheme."""

    iterations: int
    rate: float  # initial rate of Adam, which falls to 0 as half a cosine
    draws: int  # number of masks per iteration; one pass through g serves them all
    seed: int  # seed of the masks
    threads: int  # fixed, as rounding depends on it, so that every machine gives equal results


class Trained(NamedTuple):
    """Result of a training; `losses` has a row before every step and one after the last step.

    Its columns are the mean loss under the masks of the iteration, and the expected loss.
    """

    losses: Matrix
    predictions: Matrix  # U g(X), with samples as columns like Y


class _Training:
    """State of a training: U, g and everything else that an iteration changes."""

    def __init__(self, g: nn.Module, y: Matrix, scheme: Scheme, settings: Settings):
        self.g, self.y, self.scheme, self.settings = g.train(), y, scheme, settings
        self.u = torch.zeros(len(y), len(scheme.characteristic), requires_grad=True)
        self.optimiser = torch.optim.Adam([self.u, *g.parameters()])
        self.targets = torch.tensor(y, dtype=self.u.dtype)
        self.losses: list[list[float]] = []

    @property
    def done(self) -> int:
        return len(self.losses)

    def state(self) -> checkpoints.State:
        return {
            "g": self.g.state_dict(),
            "u": self.u.detach(),
            "optimiser": self.optimiser.state_dict(),
            "losses": self.losses,
        }

    def restore(self, state: checkpoints.State) -> None:
        self.g.load_state_dict(state["g"])
        self.u.data = state["u"]
        self.optimiser.load_state_dict(state["optimiser"])
        self.losses = state["losses"]

    def iterate(self, x: Tensor) -> None:
        loss, _ = self._measured(x)
        self._step(loss)

    def finish(self, x: Tensor) -> Trained:
        _, hidden = self._measured(x)
        return Trained(np.array(self.losses), _double(self.u) @ _double(hidden))

    def _measured(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Loss under the masks of this iteration, and g(X) with samples as columns."""
        hidden = self.g(x).T
        masked = self.u * self._noise()[:, None, :]
        loss = ((masked @ hidden - self.targets) ** 2).sum((1, 2)).mean()
        expected = objective(self.y, _double(self.u), _double(hidden), self.scheme.characteristic)
        if not math.isfinite(expected):
            raise UserError(f"training diverged at iteration {self.done}: set a smaller rate")
        self.losses.append([loss.item(), expected])
        return loss, hidden

    def _noise(self) -> Tensor:
        """Noise z/μ of this iteration (draws × nodes), seeded by its number so that runs resume."""
        stream = np.random.SeedSequence(self.settings.seed, spawn_key=(self.done,))
        noise = self.scheme.noise(self.settings.draws, np.random.default_rng(stream))
        return torch.tensor(noise, dtype=self.u.dtype)

    def _step(self, loss: Tensor) -> None:
        share = (self.done - 1) / self.settings.iterations
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.rate * (1 + math.cos(math.pi * share)) / 2
        self.optimiser.zero_grad()
        torch.autograd.backward(loss)
        self.optimiser.step()


def train(
    g: nn.Module,
    x: Tensor,
    y: Matrix,
    scheme: Scheme,
    settings: Settings,
    checkpoint: Path,
    source: Mapping[str, Any],
) -> Trained:
    """Train U and g to the last iteration, resuming from a checkpoint of the same training.

    U starts at zero, since random weights would start with a loss of several times ‖Y‖² under
    masks. `source` identifies network, data and code by values that JSON can hold; a checkpoint
    with another source is ignored. The caller deletes the checkpoint once the result is saved.
    """
    torch.set_num_threads(settings.threads)
    training, of = _Training(g, y, scheme, settings), {**source, "settings": settings._asdict()}
    if state := checkpoints.load(checkpoint, of):
        training.restore(state)
        logger.info("%s: %d iterations are done", checkpoint, training.done)
    progress = Progress("training", settings.iterations, unit="iterations")
    progress.resume_at(training.done)
    saved = time.monotonic()
    while training.done < settings.iterations:
        training.iterate(x)
        progress.advance(1)
        if time.monotonic() - saved >= SAVED_SECONDS:
            checkpoints.save(checkpoint, training.state(), of)
            saved = time.monotonic()
    return training.finish(x)


def _double(tensor: Tensor) -> Matrix:
    return np.asarray(tensor.detach().double().numpy())
