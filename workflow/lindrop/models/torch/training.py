"""Training by Adam on batches of users, which returns the epoch with the best validation metric.

The metric is the criterion of tuning, by default nDCG@100. As in Liang 2018, every epoch takes all
users in a new order, then measures the metric on the validation users; the best network is kept.
Training ends after `patience` epochs without improvement.
"""

import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from lindrop.base import checkpoints
from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.reporting import Progress, logger
from lindrop.base.stopwatch import Cost, peak_bytes
from lindrop.models.base import Training, Validation
from lindrop.models.torch.model import Perceptron
from lindrop.models.torch.networks import Autoencoder, Batch
from lindrop.ranking.evaluation import evaluate, summary
from lindrop.ranking.metrics import DEFAULT

SAVED_SECONDS = 5.0  # least time between two checkpoints, each of which is written after an epoch

History = list[dict[str, float]]


class Settings(NamedTuple):
    """Settings of a training, by default those of Liang 2018."""

    epochs: int = 200
    batch: int = 500
    learning_rate: float = 1e-3
    patience: int = 200
    seed: int = 1  # seed of the users' order, dropout and noise
    threads: int = 2  # fixed, as rounding depends on it, so that every machine gives equal results


class Trained(NamedTuple):
    """Result of a training: the best network, a row per epoch, the cost of earlier processes."""

    model: Perceptron
    history: History
    earlier: Cost


class _Training:
    """State of a training: the network and everything else that an epoch changes."""

    def __init__(self, network: Autoencoder, data: Training, settings: Settings):
        self.network, self.x, self.settings = network, data.x, settings
        self.criterion = data.criterion
        self.metrics = [*dict.fromkeys([*DEFAULT, data.criterion])]
        self.optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        self.history: History = []
        self.seconds = 0.0
        self.megabytes = 0.0  # peak memory of earlier processes
        self.best = network.perceptron()

    @property
    def epochs(self) -> int:
        return len(self.history)

    @property
    def best_epoch(self) -> int:
        return best_epoch(self.history, self.criterion)

    @property
    def done(self) -> bool:
        ended = out_of_patience(self.history, self.settings, self.criterion)
        return self.epochs == self.settings.epochs or ended

    def state(self) -> checkpoints.State:
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "history": self.history,
            "seconds": self.seconds,
            "megabytes": max(self.megabytes, peak_bytes() / 1e6),
            "best": {name: torch.from_numpy(part) for name, part in self.best.parts().items()},
        }

    def restore(self, state: checkpoints.State) -> None:
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.history = state["history"]
        self.seconds, self.megabytes = state["seconds"], state["megabytes"]
        self.best = Perceptron.of({name: part.numpy() for name, part in state["best"].items()})

    def epoch(self, validation: Validation) -> None:
        start = time.perf_counter()
        loss = self._pass()
        found = evaluate(self.network, *validation, self.metrics)
        means = summary(found.per_user)["mean"]
        metrics = {str(name): float(mean) for name, mean in means.items()}
        self.history.append({"epoch": self.epochs + 1, "loss": loss, **metrics})
        if self.best_epoch == self.epochs:
            self.best = self.network.perceptron()
        self.seconds += time.perf_counter() - start

    def _pass(self) -> float:
        """Train on all users once; returns the mean of the losses, each measured before its step.

        Every epoch seeds its own random numbers, so a resumed run gives the same result.
        """
        stream = np.random.SeedSequence(self.settings.seed, spawn_key=(self.epochs,))
        rng = np.random.default_rng(stream)
        order, size = rng.permutation(self.x.shape[0]), self.settings.batch
        starts, total = range(0, len(order), size), 0.0
        for number, start in enumerate(starts):
            users = order[start : start + size]
            batch = Batch(users, self.x[users], self.epochs * len(starts) + number)
            total += self._step(batch, rng) * len(users)
        return total / len(order)

    def _step(self, batch: Batch, rng: np.random.Generator) -> float:
        loss = self.network.loss(batch, rng)
        value = float(loss.item())
        if not math.isfinite(value):
            raise Unsolvable(
                f"training diverged in epoch {self.epochs + 1}: set a smaller learning rate"
            )
        self.optimiser.zero_grad()
        torch.autograd.backward(loss)
        self.optimiser.step()
        return value


def train(
    network: Autoencoder,
    data: Training,
    validation: Validation,
    settings: Settings,
    source: Mapping[str, Any],
) -> Trained:
    """Train to the last epoch or until patience ends, resuming from a checkpoint of this training.

    `data` names the checkpoint, and `source` identifies network and data by values that JSON can
    hold; a checkpoint with another source is ignored. The caller deletes the checkpoint once the
    result is saved.
    """
    _require_somebody(validation)
    torch.set_num_threads(settings.threads)
    checkpoint, training = data.checkpoint, _Training(network, data, settings)
    of = {**source, "settings": settings._asdict()}
    of |= {"metrics": training.metrics, "criterion": training.criterion}
    if checkpoint and (state := checkpoints.load(checkpoint, of)):
        training.restore(state)
        logger.info("%s: %d epochs are done", checkpoint, training.epochs)
    earlier = Cost(training.seconds, training.megabytes)
    progress = Progress("training", settings.epochs, unit="epochs")
    progress.resume_at(training.epochs)
    saved = time.monotonic()
    while not training.done:
        training.epoch(validation)
        progress.advance(1)
        due = training.done or time.monotonic() - saved >= SAVED_SECONDS
        if checkpoint and due:
            checkpoints.save(checkpoint, training.state(), of)
            saved = time.monotonic()
    row = training.history[training.best_epoch - 1]
    logger.info(
        "epoch %d of %d is the best: %s", row["epoch"], training.epochs, row[data.criterion]
    )
    return Trained(training.best, training.history, earlier)


def best_epoch(history: History, criterion: str) -> int:
    """Number of the epoch with the best validation score, counted from 1; 0 without any epoch."""
    return 1 + int(np.argmax([row[criterion] for row in history])) if history else 0


def out_of_patience(history: History, settings: Settings, criterion: str) -> bool:
    """Whether the last `patience` epochs brought no improvement."""
    return len(history) - best_epoch(history, criterion) >= settings.patience


def _require_somebody(validation: Validation) -> None:
    if not validation.held_out.nnz:
        raise UserError("no validation user has held-out items, so nothing tells when to stop")
