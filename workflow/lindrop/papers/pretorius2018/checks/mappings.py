"""Pretorius 2018, Section F: the mapping of every mode, estimated from reconstructions."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, PRINTED, Check, at_least, at_most, equal
from lindrop.dropout.autoencoders.nonlinear import Activation, Modes, activate, mapping
from lindrop.dropout.autoencoders.weights import Weights, normal_weights
from lindrop.dropout.dynamics.descent import gradient_descent, integrate
from lindrop.dropout.dynamics.loss import gradient
from lindrop.dropout.dynamics.modes import Mode, equivalents
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.papers.pretorius2018.as_printed import rotated_moment
from lindrop.papers.pretorius2018.checks.noise import every_noise
from lindrop.papers.pretorius2018.published import curves

INPUTS, HIDDEN, SAMPLES = 5, 8, 9
VARIANCE = 0.3  # variance s² of the noise
START = 0.1  # standard deviation of random weights
RATE, EPOCHS = 0.002, 500
REST_RATE, REST_EPOCHS = 0.02, 20_000  # of a training until its network is at rest
STARTS = 40  # number of random starts
TIMES = np.linspace(0, 60, 121)
LAM, NOISES = 1.0, (0.0, 0.5, 5.0)  # λ, and values of ε
ACTIVATIONS: tuple[Activation, ...] = ("tanh", "relu")
ROUNDING, INTEGRATED, AT_REST = 1e-10, 1e-9, 1e-6
GRADUAL = 2e-4  # error of second order in the rate, of which several seeds leave 2e-5 to 9e-5
PLOTTED = 0.01  # finest difference of a mapping that a figure shows


class Samples(NamedTuple):
    """Samples X (columns) with the spectrum of XX'."""

    x: Matrix
    values: Vector
    vectors: Matrix

    def estimated(self, reconstructed: Matrix) -> Vector:
        """Estimated mapping λ̂_j/λ_j of every mode."""
        return np.asarray(self.rotated(reconstructed).diagonal() / self.values)

    def rotated(self, reconstructed: Matrix) -> Matrix:
        """Λ̂, the moment of X and its reconstructions, in the eigenvectors of XX'."""
        return rotated_moment(self.x, reconstructed, self.vectors)


def checks(seed: int) -> list[Check]:
    """Checks of the estimate in linear, tanh and trained networks, and of its range."""
    data, frames, normal, starts = np.random.default_rng(seed).spawn(4)
    x = data.normal(size=(INPUTS, SAMPLES))
    samples = Samples(x, *np.linalg.eigh(x @ x.T))
    turn = np.linalg.qr(frames.normal(size=(HIDDEN, INPUTS)))[0]
    diagonal = frames.uniform(0, 0.5, (2, INPUTS))
    aligned = Weights(
        (turn * diagonal[0]) @ samples.vectors.T, (samples.vectors * diagonal[1]) @ turn.T
    )
    random = normal_weights(INPUTS, HIDDEN, START, normal, float)
    return [
        *_diagonal(samples, aligned, random),
        *_products(samples, aligned, diagonal),
        *_means(samples, random),
        *_shortcuts(samples, random),
        *_range(starts),
    ]


def _reconstructed(x: Matrix, weights: Weights, activation: Activation | None = None) -> Matrix:
    """Outputs of a network, linear unless it has an activation."""
    hidden = weights.w1 @ x
    if activation:
        activate(hidden, activation)
    return np.asarray(weights.w2 @ hidden)


def _diagonal(samples: Samples, aligned: Weights, random: Weights) -> Iterator[Check]:
    """Checks of Λ̂ = ΛV'M'V.

    It is diagonal in the networks of the theory, which keep eigenvectors apart, and in any linear
    network at rest; the estimate uses its diagonal alone.
    """
    trained = Weights(*(each.copy() for each in random))
    for _ in range(REST_EPOCHS):
        trained.descend(Weights(*gradient(samples.x, *trained, VARIANCE)), REST_RATE)
    cases = (
        ("linear network from normal weights", _reconstructed(samples.x, random), PRINTED),
        ("tanh network in eigenvectors", _reconstructed(samples.x, aligned, "tanh"), PRINTED),
        ("linear network in eigenvectors", _reconstructed(samples.x, aligned), CHARITABLE),
        ("linear DAE trained from normal weights", _reconstructed(samples.x, trained), CHARITABLE),
    )
    for name, reconstructed, form in cases:
        rotated = samples.rotated(reconstructed)
        off = np.abs(rotated - np.diag(rotated.diagonal())).max() / np.abs(rotated).max()
        what = f"{name}: largest entry of Λ̂ off the diagonal over the largest of all"
        yield equal("section_f_diagonal", what, off, 0, AT_REST, form)


def _products(samples: Samples, weights: Weights, start: Matrix) -> Iterator[Check]:
    """Checks of the estimate against w₂w₁, during gradient descent on W₁ and W₂ of a DAE."""
    claim, what = "section_f_estimate", "λ̂/λ of a linear DAE in training less w₂w₁ of"
    found = _trained(samples, weights, RATE, EPOCHS)
    modes = [Mode(lam, SAMPLES * VARIANCE) for lam in samples.values]
    alone = gradient_descent(modes, [RATE] * INPUTS, start[0], start[1], EPOCHS)
    steps = np.einsum("tkk->tk", alone.prod(axis=1))
    error = np.abs(found - steps).max()
    yield equal(claim, f"{what} the same steps on modes alone: largest", error, 0, ROUNDING)
    finer = _trained(samples, weights, RATE / 2, 2 * EPOCHS)
    times = RATE / 2 * np.arange(2 * EPOCHS + 1)
    flows = [trajectory(mode, w1, w2, times) for mode, w1, w2 in zip(modes, *start, strict=True)]
    limit = np.prod(flows, axis=1).T
    error = np.abs(2 * finer[::2] - found - limit[::2]).max()
    named = f"{what} the closed form, finite steps extrapolated to none: largest"
    yield equal(claim, named, error, 0, GRADUAL)


def _trained(samples: Samples, weights: Weights, rate: float, epochs: int) -> Matrix:
    """Estimates by epoch of gradient descent on N E[L]; `weights` is not changed."""
    weights, found = Weights(*(each.copy() for each in weights)), []
    for _ in range(epochs + 1):
        found.append(samples.estimated(_reconstructed(samples.x, weights)))
        slopes = gradient(samples.x, *weights, VARIANCE)
        weights.descend(Weights(*slopes), rate * SAMPLES)
    return np.array(found)


def _means(samples: Samples, weights: Weights) -> Iterator[Check]:
    """Check that the mean over noise on the inputs does not change the estimate."""
    corrupted = samples.x + VARIANCE**0.5 * every_noise(INPUTS)
    noisy = np.mean([samples.estimated(_reconstructed(x, weights)) for x in corrupted], axis=0)
    error = np.abs(noisy - samples.estimated(_reconstructed(samples.x, weights))).max()
    what = "λ̂/λ of a linear network, mean over every noise on its inputs less that without: largest"
    yield equal("section_f_estimate", what, error, 0, ROUNDING)


def _shortcuts(samples: Samples, weights: Weights) -> Iterator[Check]:
    """Checks of the mapping as measured in training against the formula."""
    rows = np.ascontiguousarray(samples.x.T)
    for activation in ACTIVATIONS:
        measured = mapping(rows, weights, activation, Modes.of(rows, samples.vectors))
        formula = samples.estimated(_reconstructed(samples.x, weights, activation))
        what = f"λ̂/λ of a {activation} network as measured in training less the formula: largest"
        yield equal("section_f_estimate", what, np.abs(measured - formula).max(), 0, ROUNDING)


def _range(rng: np.random.Generator) -> Iterator[Check]:
    """Checks that integrated paths stay in [0, 1], and the authors' estimates as far as one sees.

    τ dw/dt is λ(w₁² + w₂²) at w = 0, and −ε(w₁² + w₂²) − 2Nγ at w = 1.
    """
    claim = "section_f_range"
    modes = [mode for eps in NOISES for mode in equivalents(LAM, eps)]
    w1, w2 = _within(rng)
    w = np.array([np.prod(integrate(mode, w1, w2, TIMES), axis=0) for mode in modes])
    what = "w₂w₁ of AE, DAE and WDAE along integrated paths from random starts with 0 ≤ w₂w₁ ≤ 1"
    yield at_least(claim, f"smallest {what}", w.min(), 0, INTEGRATED)
    yield at_most(claim, f"largest {what}", w.max(), 1, INTEGRATED)
    theirs = curves()[["ae", "wdae", "dae"]].to_numpy()
    what = "mapping in the authors' curves of six ReLU networks"
    yield at_least(claim, f"smallest {what}", theirs.min(), 0, PLOTTED, data="published")
    yield at_most(claim, f"largest {what}", theirs.max(), 1, PLOTTED, data="published")


def _within(rng: np.random.Generator) -> Matrix:
    """Weights w₁ and w₂ whose product is between 0 and 1."""
    product, first = rng.uniform(0, 1, STARTS), np.exp(rng.uniform(-1, 1, STARTS))
    return np.stack([first, product / first])
