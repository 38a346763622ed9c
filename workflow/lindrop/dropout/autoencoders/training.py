"""Resumable training of an autoencoder with tanh or ReLU, epoch by epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.dropout.autoencoders.nonlinear import Activation, Modes, Noise, full_pass, mapping
from lindrop.dropout.autoencoders.weights import Weights, normal_weights

START = 1e-3  # standard deviation of the initial weights


class Network(NamedTuple):
    """Settings of a training: the network, the optimiser and the seed."""

    activation: Activation
    hidden: int
    rate: float
    epochs: int
    every: int  # epochs between two measurements
    noise: float  # standard deviation of the input noise of a DAE; 0 for none
    decay: float  # γ in the penalty (γ/2)(‖W₁‖² + ‖W₂‖²) of a WDAE; 0 for none
    seed: int


@dataclass
class Run:
    """State of a training: the epochs done, the weights, and the measurements so far.

    A row of `measured` has the epoch, its loss, the identity mapping of every mode on the noisy
    samples of training, and that on samples without noise.
    """

    epoch: int
    weights: Weights
    measured: list[list[float]] = field(default_factory=list)


def begin(inputs: int, network: Network, dtype: type = np.float32) -> Run:
    """Training before its first epoch; the start depends on seed, sizes and dtype only.

    Networks that differ in their penalty or noise alone thus have the same start.
    """
    rng = np.random.default_rng(network.seed)
    return Run(0, normal_weights(inputs, network.hidden, START, rng, dtype))


def descend(run: Run, x: Matrix, modes: Modes, network: Network) -> Iterator[None]:
    """Train `run` in place to the last epoch, yielding after every epoch.

    Measurements of an epoch are taken before its step. Every epoch seeds its own noise, so a
    resumed run gives the same result.
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
    """Noise of an epoch, seeded by the network's seed and the epoch; None without noise."""
    if not network.noise:
        return None
    stream = np.random.SeedSequence(network.seed, spawn_key=(epoch,))
    return Noise(network.noise, np.random.default_rng(stream))
