"""Pretorius 2018, Section A: mean of the loss over the noise, and where its bracket ends (E20).

Noise of ±s in every component has variance s², which is all that the claim requires, and few
values, so means over it are exact. One check draws Gaussian noise as the paper does.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CHARITABLE, PRINTED, STANDARD_ERRORS, Check, Form, equal
from lindrop.dropout.autoencoders.nonlinear import Modes, Noise, full_pass
from lindrop.dropout.autoencoders.weights import Weights
from lindrop.dropout.dynamics.loss import expected_loss, loss
from lindrop.papers.pretorius2018 import as_printed

LOSS = "section_a_loss"
INPUTS, HIDDEN, SAMPLES = 5, 3, 7
DEVIATION = 0.7  # standard deviation s of the noise
DRAWS, DRAWS_AT_ONCE = 20_000, 200
SHIFT = 20.0  # added to X, so that noise never makes nodes with positive weights inactive
ROUNDING = 1e-12  # relative tolerance for rounding errors


class Net(NamedTuple):
    """Samples X and weights W₁ and W₂."""

    x: Matrix
    w1: Matrix
    w2: Matrix

    @property
    def both(self) -> Matrix:
        """M = W₂W₁ of Section A."""
        return self.w2 @ self.w1


def checks(seed: int) -> list[Check]:
    """Checks of the terms of E[L], of E[L], and of its minimiser."""
    data, gaussian, drawn = np.random.default_rng(seed).spawn(3)
    shapes = (INPUTS, SAMPLES), (HIDDEN, INPUTS), (INPUTS, HIDDEN)
    net = Net(*(data.normal(size=shape) for shape in shapes))
    return [
        *_cross_terms(net),
        *_trace(net),
        *_enumerated(net),
        *_sampled(net, gaussian),
        *_trained(net, drawn),
        *_minimiser(net.x),
    ]


def every_noise(inputs: int) -> Matrix:
    """Noise ±s in every component, all combinations, each for all samples of X."""
    signs = np.array(list(product((-1.0, 1.0), repeat=inputs)))
    return DEVIATION * signs[:, :, None]


def _cross_terms(net: Net) -> Iterator[Check]:
    claim, noise = "section_a_cross_terms", every_noise(INPUTS)
    wrong, moved = net.x - net.both @ net.x, net.both @ noise
    clean = float(np.sum(wrong**2))
    crossed = np.abs(np.einsum("in,kij->kn", wrong, moved).mean(axis=0)).max()
    what = "mean of the cross terms, relative: largest of every sample"
    yield equal(claim, what, crossed / clean, 0, ROUNDING)
    whole = 2 * SAMPLES * loss(net.x, net.x + noise, net.w1, net.w2).mean()
    parts = clean + np.sum((moved * np.ones(SAMPLES)) ** 2, axis=(1, 2)).mean()
    what = "Σ E[SE(x̃)] / Σ (SE(x) + E‖M(x − x̃)‖²), every noise"
    yield equal(claim, what, whole / parts, 1, ROUNDING)


def _trace(net: Net) -> Iterator[Check]:
    claim, noise = "section_a_trace", every_noise(INPUTS)
    mean = np.sum((net.both @ noise) ** 2, axis=(1, 2)).mean()
    moment = np.mean(noise @ np.swapaxes(noise, 1, 2), axis=0)
    what = "E‖M(x − x̃)‖², every noise, over"
    of_moment = mean / np.trace(net.both @ moment @ net.both.T)
    yield equal(claim, f"{what} tr(M E[εε'] M')", of_moment, 1, ROUNDING)
    of_variance = mean / (DEVIATION**2 * np.trace(net.both @ net.both.T))
    yield equal(claim, f"{what} s² tr(MM')", of_variance, 1, ROUNDING)


def _enumerated(net: Net) -> Iterator[Check]:
    mean = float(loss(net.x, net.x + every_noise(INPUTS), net.w1, net.w2).mean())
    for what, formula, form in _formulas(net):
        what = f"{what} / mean over every noise"
        yield equal(_claim(form), what, formula / mean, 1, ROUNDING, form)


def _sampled(net: Net, rng: np.random.Generator) -> Iterator[Check]:
    noise = DEVIATION * rng.normal(size=(DRAWS, *net.x.shape))
    losses = loss(net.x, net.x + noise, net.w1, net.w2)
    error = float(losses.std(ddof=1)) / np.sqrt(DRAWS)
    for what, formula, form in _formulas(net):
        what = f"{what}, Gaussian noise: mean of {DRAWS} draws; 5 standard errors"
        if form == CHARITABLE:
            yield equal(LOSS, what, losses.mean(), formula, STANDARD_ERRORS * error, form)


def _trained(net: Net, rng: np.random.Generator) -> Iterator[Check]:
    """Checks of the loss that the trainings of ReLU networks measure, with the noise they draw.

    With a positive W₁ and inputs far above zero every node is active, so the network is linear. M
    keeps the vector of ones, so that a shift of X does not change the error.
    """
    w1 = np.ones((INPUTS, INPUTS)) + np.eye(INPUTS)
    both = net.both + (1 - net.both.sum(axis=1, keepdims=True)) / INPUTS
    net = Net(net.x + SHIFT, w1, both @ np.linalg.inv(w1))
    rows = np.ascontiguousarray(np.tile(net.x, DRAWS_AT_ONCE).T)
    weights, modes = Weights(net.w1, net.w2), Modes.of(rows, np.eye(INPUTS))
    noise = Noise(DEVIATION, rng)
    passes = [
        full_pass(rows, weights, "relu", modes, noise).loss for _ in range(DRAWS // DRAWS_AT_ONCE)
    ]
    losses = INPUTS / 2 * np.array(passes)  # of one sample instead of one input
    error = float(losses.std(ddof=1)) / np.sqrt(len(losses))
    for what, formula, form in _formulas(net):
        what = f"{what}, ReLU network as trained, all nodes active: mean of {DRAWS} draws"
        what = f"{what}; 5 standard errors"
        if form == CHARITABLE:
            yield equal(LOSS, what, losses.mean(), formula, STANDARD_ERRORS * error, form)


def _formulas(net: Net) -> list[tuple[str, float, Form]]:
    """E[L] as Section A prints it, in both readings of where 1/2N ends, and as it is used here."""
    bare, bracketed = (
        as_printed.expected_loss(*net, DEVIATION**2, bracketed=whole) for whole in (False, True)
    )
    used = expected_loss(*net, DEVIATION**2)
    return [
        ("E[L] = (1/2N) Σ SE(x_i) + N s² tr(W₂W₁W₁'W₂')", bare, PRINTED),
        ("E[L] = (1/2N) [Σ SE(x_i) + N s² tr(W₂W₁W₁'W₂')]", bracketed, CHARITABLE),
        ("E[L] = (1/2N) Σ SE(x_i) + (s²/2) tr(W₂W₁W₁'W₂')", used, CHARITABLE),
    ]


def _minimiser(x: Matrix) -> Iterator[Check]:
    """Checks of the eigenvalues of the least-squares solution over all corrupted copies of X.

    They are the fixed points of the DAE (E20).
    """
    corrupted = x + every_noise(INPUTS)
    targets = np.broadcast_to(x, corrupted.shape)
    moment = np.einsum("kin,kjn->ij", corrupted, corrupted)
    best = np.linalg.solve(moment, np.einsum("kin,kjn->ij", corrupted, targets))
    lam, vectors = np.linalg.eigh(x @ x.T)
    kept = np.diag(vectors.T @ best @ vectors)
    power = SAMPLES * DEVIATION**2
    error = np.abs(kept - lam / (lam + power)).max()
    what = "ε = N s²: λ/(λ + ε) less what least squares keep of a mode, every noise"
    yield equal(LOSS, what, error, 0, ROUNDING, CHARITABLE)


def _claim(form: Form) -> str:
    """The claim, or the erratum that says what our copy reads."""
    return "e20" if form == PRINTED else LOSS
