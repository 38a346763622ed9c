"""Training of an autoencoder with tanh or ReLU, epoch by epoch, that can stop and continue."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.dropout.autoencoders.nonlinear import Activation, Modes, Noise, full_pass, mapping
from lindrop.dropout.autoencoders.weights import Weights, normal_weights

START = 1e-3  # standard deviation of the first weights


class Network(NamedTuple):
    """What a training depends on beside its samples."""

    activation: Activation
    hidden: int
    rate: float
    epochs: int
    every: int  # epochs between two measurements
    noise: float  # standard deviation; of a DAE
    decay: float  # γ, of the penalty (γ/2)(‖W₁‖² + ‖W₂‖²); of a WDAE
    seed: int


@dataclass
class Run:
    """How far a training came.

    A row of `measured`: the epoch, its loss, and the mapping of every mode, first of the
    reconstructions that training sees, then of those without noise.
    """

    epoch: int
    weights: Weights
    measured: list[list[float]] = field(default_factory=list)


def begin(inputs: int, network: Network, dtype: type = np.float32) -> Run:
    """Networks that differ in their penalty or noise alone have the same start."""
    rng = np.random.default_rng(network.seed)
    return Run(0, normal_weights(inputs, network.hidden, START, rng, dtype))


def descend(run: Run, x: Matrix, modes: Modes, network: Network) -> Iterator[None]:
    """Train to the last epoch, in place, with a pause after every one; measured is before a step.

    The noise of an epoch has random numbers of its own, so that it matters not where a run resumes.
    """
    while run.epoch < network.epochs:
        noise = noise_of(network, run.epoch)
        loss, gradient, seen = full_pass(x, run.weights, network.activation, modes, noise)
        if run.epoch % network.every == 0:
            clean = mapping(x, run.weights, network.activation, modes) if noise else seen
            run.measured.append([run.epoch, loss, *seen, *clean])
        if network.decay:
            for slope, weight in zip(gradient, run.weights, strict=True):
                slope += network.decay * weight
        run.weights.descend(gradient, network.rate)
        run.epoch += 1
        yield


def noise_of(network: Network, epoch: int) -> Noise | None:
    if not network.noise:
        return None
    stream = np.random.SeedSequence(network.seed, spawn_key=(epoch,))
    return Noise(network.noise, np.random.default_rng(stream))
