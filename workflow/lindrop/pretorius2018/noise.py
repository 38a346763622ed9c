"""Pretorius 2018, Section A: the mean of the loss over the noise, and the factor of its last term.

Noise of ±s in every component has variance s², all that the claim knows of it, and few values: the
mean over them is exact. One check draws Gaussian noise, as the paper does.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from lindrop.arrays import Matrix
from lindrop.checks import CORRECTED, PRINTED, Check, Form, equal
from lindrop.dropout.dynamics.loss import expected_loss, loss
from lindrop.pretorius2018 import as_printed

INPUTS, HIDDEN, SAMPLES = 5, 3, 7
DEVIATION = 0.7  # s
DRAWS = 20_000
STANDARD_ERRORS = 5
ROUNDING = 1e-12  # relative


class Net(NamedTuple):
    x: Matrix
    w1: Matrix
    w2: Matrix

    @property
    def both(self) -> Matrix:
        """M of Section A."""
        return self.w2 @ self.w1


def noise_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    data, gaussian = np.random.default_rng(seed).spawn(2)
    shapes = (INPUTS, SAMPLES), (HIDDEN, INPUTS), (INPUTS, HIDDEN)
    net = Net(*(data.normal(size=shape) for shape in shapes))
    return [*_steps(net), *_enumerated(net), *_sampled(net, gaussian), *_minimiser(net.x)]


def every_noise(inputs: int) -> Matrix:
    """±s in every component, all equally likely; every sample of X gets each."""
    signs = np.array(list(product((-1.0, 1.0), repeat=inputs)))
    return DEVIATION * signs[:, :, None]


def _steps(net: Net) -> Iterator[Check]:
    noise = every_noise(INPUTS)
    wrong = net.x - net.both @ net.x
    crossed = np.einsum("in,kin->k", wrong, net.both @ -noise * np.ones(SAMPLES)).mean()
    scale = float(np.sum(wrong**2))
    yield equal("section_a", "mean of the cross terms, relative", crossed / scale, 0, ROUNDING)
    squared = np.sum((net.both @ noise) ** 2, axis=(1, 2)).mean()
    trace = DEVIATION**2 * np.trace(net.both @ net.both.T)
    what = "E‖M(x − x̃)‖² / s² tr(MM'), every noise"
    yield equal("section_a", what, squared / trace, 1, ROUNDING)


def _enumerated(net: Net) -> Iterator[Check]:
    mean = float(loss(net.x, net.x + every_noise(INPUTS), net.w1, net.w2).mean())
    for claim in ("section_a", "e20"):
        for what, formula, form in _formulas(net):
            yield equal(claim, f"{what} / mean over every noise", formula / mean, 1, ROUNDING, form)


def _sampled(net: Net, rng: np.random.Generator) -> Iterator[Check]:
    noise = DEVIATION * rng.normal(size=(DRAWS, *net.x.shape))
    losses = loss(net.x, net.x + noise, net.w1, net.w2)
    error = float(losses.std(ddof=1)) / np.sqrt(DRAWS)
    for what, formula, form in _formulas(net):
        what = f"{what}, Gaussian noise: mean of {DRAWS} draws; 5 standard errors"
        yield equal("section_a", what, losses.mean(), formula, STANDARD_ERRORS * error, form)


def _formulas(net: Net) -> list[tuple[str, float, Form]]:
    return [
        ("E[L] with N s² tr(W₂W₁W₁'W₂')", as_printed.expected_loss(*net, DEVIATION**2), PRINTED),
        ("E[L] with s²/2 tr(W₂W₁W₁'W₂')", expected_loss(*net, DEVIATION**2), CORRECTED),
    ]


def _minimiser(x: Matrix) -> Iterator[Check]:
    """Least squares over every corrupted copy of X: its eigenvalues are the DAE's fixed points."""
    corrupted = x + every_noise(INPUTS)
    targets = np.broadcast_to(x, corrupted.shape)
    moment = np.einsum("kin,kjn->ij", corrupted, corrupted)
    best = np.linalg.solve(moment, np.einsum("kin,kjn->ij", corrupted, targets))
    lam, vectors = np.linalg.eigh(x @ x.T)
    kept = np.diag(vectors.T @ best @ vectors)
    power = SAMPLES * DEVIATION**2
    for what, eps, form in (
        ("ε = 2N²s², as N s² tr(W₂W₁W₁'W₂') would have it", 2 * SAMPLES * power, PRINTED),
        ("ε = N s²", power, CORRECTED),
    ):
        error = np.abs(kept - lam / (lam + eps)).max()
        what = f"{what}: λ/(λ + ε) less what least squares keep of a mode, every noise"
        yield equal("e20", what, error, 0, ROUNDING, form)
