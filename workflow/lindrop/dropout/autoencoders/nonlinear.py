"""Loss, gradient and identity mapping of x̂ = W₂φ(W₁x̃), x̃ = x + noise, in one pass over the samples.

Samples are processed in blocks of rows that stay in the cache, with all buffers reused, so that
nearly all of the time goes into five matrix products.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.autoencoders.weights import Weights

Activation = Literal["tanh", "relu"]

ROWS = 512  # samples per block, which makes buffers of a few megabytes
UNIT = np.float32(2.0**-31)  # scales signed 32-bit integers to [-1, 1]
AT_ONCE = 24_000  # numbers per block; larger temporary arrays are slow to allocate


class Modes(NamedTuple):
    """Leading eigenvectors V of X'X (columns), and the samples' coordinates XV (`scores`)."""

    vectors: Matrix
    scores: Matrix

    @classmethod
    def of(cls, x: Matrix, vectors: Matrix) -> "Modes":
        """Modes of the samples X with the given eigenvectors of X'X."""
        vectors = vectors.astype(x.dtype)
        return cls(vectors, x @ vectors)

    @property
    def values(self) -> Vector:
        """Eigenvalues λ_j of X'X."""
        return np.asarray(np.einsum("ij,ij->j", self.scores, self.scores, dtype=float))


class Noise(NamedTuple):
    """Noise of a denoising autoencoder: independent normal numbers of mean 0."""

    deviation: float
    rng: np.random.Generator

    def add(self, x: Matrix, out: Matrix) -> Matrix:
        """Write x with noise into `out`, and return it."""
        fill_normal(out, self.deviation, self.rng)
        out += x
        return out


class Pass(NamedTuple):
    """Result of a pass; `mapping` is the identity mapping on the (noisy) samples of training."""

    loss: float
    gradient: Weights
    mapping: Vector


def full_pass(
    x: Matrix, weights: Weights, activation: Activation, modes: Modes, noise: Noise | None = None
) -> Pass:
    """Loss ‖X − X̂‖²/(ND), a mean over samples and inputs; its gradient; the identity mapping."""
    w1, w2 = weights
    gradient, scratch = (Weights(*map(np.zeros_like, weights)) for _ in range(2))
    widths = len(w2), len(w2), len(w1), len(w1)
    noisy, error, hidden, back = (np.empty((ROWS, width), x.dtype) for width in widths)
    loss, mapped = 0.0, np.zeros(modes.vectors.shape[1])
    for rows in blocks(x):
        clean = x[rows]
        n, e, h, b = (buffer[: len(clean)] for buffer in (noisy, error, hidden, back))
        seen = noise.add(clean, n) if noise else clean
        activate(np.matmul(seen, w1.T, out=h), activation)
        mapped += _mapped(h, w2, modes, rows)
        np.matmul(h, w2.T, out=e)
        e -= clean
        loss += float(np.vdot(e, e))
        np.matmul(e, w2, out=b)
        _add_product(gradient.w2, e, h, scratch.w2)
        through(b, h, activation)
        _add_product(gradient.w1, b, seen, scratch.w1)
    for slope in gradient:
        slope *= 2 / x.size
    return Pass(loss / x.size, gradient, mapped / modes.values)


def mapping(x: Matrix, weights: Weights, activation: Activation, modes: Modes) -> Vector:
    """Identity mapping λ̂_j/λ_j of every mode, on samples without noise (Pretorius 2018, Section F).

    λ̂_j is v_j' (Σ_i x_i x̂_i') v_j.
    """
    w1, w2 = weights
    mapped = np.zeros(modes.vectors.shape[1])
    for rows in blocks(x):
        hidden = x[rows] @ w1.T
        activate(hidden, activation)
        mapped += _mapped(hidden, w2, modes, rows)
    return np.asarray(mapped / modes.values)


def blocks(x: Matrix) -> Iterator[slice]:
    """Slices of at most `ROWS` rows that cover X."""
    return (slice(start, start + ROWS) for start in range(0, len(x), ROWS))


def activate(values: Matrix, activation: Activation) -> None:
    """Apply the activation φ in place."""
    if activation == "tanh":
        np.tanh(values, out=values)
    else:
        np.maximum(values, 0, out=values)


def through(back: Matrix, hidden: Matrix, activation: Activation) -> None:
    """Multiply `back` by φ′ in place; `hidden`, the output of φ, is overwritten."""
    if activation == "tanh":
        np.square(hidden, out=hidden)
        np.subtract(1, hidden, out=hidden)
        back *= hidden
    else:
        back *= hidden > 0


def _mapped(hidden: Matrix, w2: Matrix, modes: Modes, rows: slice) -> Vector:
    """Σ_i (v_j'x_i)(v_j'x̂_i) of every mode j over a block, without forming the x̂_i."""
    reconstructed = hidden @ (w2.T @ modes.vectors)
    return np.asarray(np.einsum("ij,ij->j", modes.scores[rows], reconstructed))


def _add_product(total: Matrix, left: Matrix, right: Matrix, scratch: Matrix) -> None:
    """Add left' right to `total` in place; `scratch` is overwritten."""
    np.matmul(left.T, right, out=scratch)
    total += scratch


def fill_normal(out: Matrix, deviation: float, rng: np.random.Generator) -> None:
    """Fill `out` with normal numbers of mean 0 and the given deviation, in float32's precision.

    NumPy draws normal numbers one by one, which would take half as long as all the rest of a
    training. Here its random bits become pairs of normal numbers by vectorised functions (the
    Box-Muller transform), about three times as fast. In float32 this gives no number beyond 6.7
    standard deviations.

    Every row takes the same number of random bits, so filling an array in several calls gives the
    same rows as one call.
    """
    rows = max(AT_ONCE // out.shape[1], 1)
    for start in range(0, len(out), rows):
        _fill(out[start : start + rows], deviation, rng)


def _fill(out: Matrix, deviation: float, rng: np.random.Generator) -> None:
    columns = out.shape[1]
    pairs, rest = (columns + 1) // 2, columns // 2
    bits = rng.integers(-(2**63), 2**63, (len(out), pairs)).view(np.int32)
    uniform = bits.astype(np.float32)
    uniform *= UNIT
    radius, angle = uniform[:, :pairs], uniform[:, pairs:]
    np.abs(radius, out=radius)
    radius += UNIT / 2  # never zero
    np.log(radius, out=radius)
    radius *= np.float32(-2 * deviation**2)
    np.sqrt(radius, out=radius)
    angle *= np.float32(np.pi)
    np.cos(angle, out=out[:, :pairs])
    np.sin(angle[:, :rest], out=out[:, pairs:])
    out[:, :pairs] *= radius
    out[:, pairs:] *= radius[:, :rest]
