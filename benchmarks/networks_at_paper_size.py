"""Mappings by the networks of Pretorius 2018 on MNIST and CIFAR-10, every 100 epochs.

    python benchmarks/networks_at_paper_size.py tanh <folder of images>
    python benchmarks/networks_at_paper_size.py draw tanh

The first command trains an AE, a WDAE and a DAE with noise of the printed variance 2 on the first
50,000 images of MNIST and on the first 30,000 training images of a CIFAR-10 archive (all, if it has
fewer), and writes benchmarks/results/pretorius2018_tanh.csv, network by network; networks that the
table has are not trained again. With `relu` the noise has standard deviation 2, as in the authors'
code. The folder holds mnist/ and cifar10/ with the published file names. The second command draws
docs/pretorius2018_tanh.png from the table.

The workflow trains the same networks in their inputs, for hours. Here an epoch is about four times
cheaper, since it works in the eigenvectors of X'X, which gradient descent does not notice:

- Of the images only the KEPT leading coordinates are used; the others have too little variance for
  a network to learn them within EPOCHS steps. Weights are kept for all of them.
- Only W₁n matters of the noise n in the forward pass, a normal vector with covariance s² W₁W₁'. In
  the gradient Σ b n' the mean of n given W₁n is exact, and the rest is a normal matrix with the
  covariance of the sum, drawn once per epoch. So the weights have the same distribution as with
  noise drawn for every pixel.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix
from lindrop.data.images import read_cifar10, read_mnist
from lindrop.dropout.autoencoders.nonlinear import Activation, activate, fill_normal, through
from lindrop.dropout.autoencoders.training import START
from lindrop.dropout.autoencoders.weights import Weights, normal_weights
from lindrop.papers.pretorius2018.figures.supp_fig1 import draw
from lindrop.papers.pretorius2018.image_sets import PUBLISHED, second_moment

RESULTS = Path(__file__).resolve().parent / "results"
DOCS = RESULTS.parents[1] / "docs"
KEPT = 64  # leading eigenvectors of X'X in which the images are described
MODES = 4
EPOCHS, EVERY = 2000, 100
RATE, DECAY = 0.9, 0.0045
ROWS = 1024
HIDDEN = {"MNIST": 256, "CIFAR-10": 512}
DEVIATION = {"tanh": 2**0.5, "relu": 2.0}
SEED = 1


class Sums:
    """Sums over images that the gradient consists of."""

    def __init__(self, kept: int, hidden: int) -> None:
        self.hh = np.zeros((hidden, hidden), np.float32)  # h h'
        self.xh = np.zeros((kept, hidden), np.float32)  # x h'
        self.bx = np.zeros((hidden, kept), np.float32)  # b x', b = ∂loss/∂(W₁x̃) but for a factor
        self.bu = np.zeros_like(self.hh)  # b u', u = W₁n
        self.bb = np.zeros_like(self.hh)  # b b'


def measured(
    x: Matrix,
    vectors: Matrix,
    hidden: int,
    activation: Activation,
    deviation: float,
    decay: float,
) -> Iterator[list[float]]:
    """Epoch and mapping of MODES, every EVERY epochs before the step.

    x and the weights are in the eigenvectors of X'X; the start is that of the workflow's networks.
    """
    inputs = len(vectors)
    start = normal_weights(inputs, hidden, START, np.random.default_rng(SEED), np.float32)
    weights = Weights(start.w1 @ vectors, vectors.T @ start.w2)
    powers = np.sum(x[:, :MODES].astype(float) ** 2, axis=0)
    for epoch in range(EPOCHS + 1):
        rng = np.random.default_rng([SEED, epoch])
        sums = epoch_sums(x, weights, activation, deviation, rng)
        if epoch % EVERY == 0:
            mapping = np.sum(sums.xh[:MODES] * weights.w2[:MODES], axis=1) / powers
            yield [epoch, *mapping.tolist()]
        gradient = gradient_of(sums, weights, deviation, rng)
        for slope, weight in zip(gradient, weights, strict=True):
            slope *= 2 / (len(x) * inputs)
            slope += decay * weight
        weights.descend(gradient, RATE)


def epoch_sums(
    x: Matrix, weights: Weights, activation: Activation, deviation: float, rng: np.random.Generator
) -> Sums:
    """Sums over all images, with noise of the given deviation on every input."""
    kept, (w1, w2) = x.shape[1], weights
    first, last, gram = np.ascontiguousarray(w1[:, :kept].T), w2[:kept], w2.T @ w2
    sums = Sums(kept, len(w1))
    if deviation:
        values, turn, _ = spectrum_of(w1)
        root = (deviation * np.sqrt(values)[:, None] * turn.T).astype(np.float32)
    for start in range(0, len(x), ROWS):
        seen = x[start : start + ROWS]
        hidden = seen @ first
        if deviation:
            noise = np.empty_like(hidden)
            fill_normal(noise, 1.0, rng)
            noise = noise @ root
            hidden += noise
        activate(hidden, activation)
        sums.hh += hidden.T @ hidden
        sums.xh += seen.T @ hidden
        back = hidden @ gram
        back -= seen @ last
        through(back, hidden, activation)
        sums.bx += back.T @ seen
        if deviation:
            sums.bu += back.T @ noise
            sums.bb += back.T @ back
    return sums


def gradient_of(
    sums: Sums, weights: Weights, deviation: float, rng: np.random.Generator
) -> Weights:
    """Σ b x̃' and Σ e h', without the factor 2/(ND)."""
    w1, w2 = weights
    kept = sums.bx.shape[1]
    slope1, slope2 = np.zeros_like(w1), w2 @ sums.hh
    slope1[:, :kept] += sums.bx
    slope2[:kept] -= sums.xh
    if deviation:
        *_, inverse = spectrum_of(w1)
        slope1 += (sums.bu @ inverse).astype(np.float32) @ w1
        values, vectors = np.linalg.eigh(sums.bb.astype(float))
        root = (vectors * np.sqrt(values.clip(0))).astype(np.float32)
        rest = root @ rng.standard_normal(w1.shape, np.float32)
        rest -= ((rest @ w1.T) @ inverse).astype(np.float32) @ w1
        slope1 += deviation * rest
    return Weights(slope1, slope2)


def spectrum_of(w1: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Eigenvalues and eigenvectors of W₁W₁', and its pseudo-inverse; weights may have vanished."""
    values, vectors = np.linalg.eigh(w1.astype(float) @ w1.T.astype(float))
    large = values > 1e-10 * values[-1]
    inverse = (vectors[:, large] / values[large]) @ vectors[:, large].T
    return np.where(large, values, 0), vectors, inverse


def images_of(folder: Path) -> Iterator[tuple[str, Matrix]]:
    """Images by the name of their set, one per row, as bytes."""
    mnist = [folder / "mnist" / f"train-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    yield named("MNIST", mnist[0]), read_mnist(*mnist, first=50_000)[0]
    archive = folder / "cifar10" / "cifar-10-python.tar.gz"
    yield named("CIFAR-10", archive), read_cifar10(archive)[0][:30_000]


def named(name: str, file: Path) -> str:
    """Name of a set of images, with a remark unless the file is the published one."""
    published = PUBLISHED.get(hashlib.sha256(file.read_bytes()).hexdigest())
    return name if published == name else f"{name} (another copy)"


def train(activation: Activation, folder: Path) -> None:
    """Train the networks with this activation that the table does not have, and add them to it."""
    file, noisy = RESULTS / f"pretorius2018_{activation}.csv", DEVIATION[activation]
    found = pd.read_csv(file, dtype=str) if file.exists() else pd.DataFrame()
    for name, images in images_of(folder):
        pixels = images.reshape(len(images), -1)
        _, vectors = np.linalg.eigh(second_moment(pixels))
        vectors = vectors[:, ::-1].astype(np.float32)
        parts = np.array_split(pixels, 9)
        x = np.concatenate([part / np.float32(255) @ vectors[:, :KEPT] for part in parts])
        for kind, deviation, decay in (("ae", 0, 0), ("wdae", 0, DECAY), ("dae", noisy, 0)):
            if len(found) and ((found["images"] == name) & (found["kind"] == kind)).any():
                continue
            labels = {"images": name, "count": len(x), "kind": kind}
            labels["variance"] = f"{deviation**2:.3g}"
            hidden = HIDDEN[name.split()[0]]
            rows = [
                labels
                | {"epoch": epoch}
                | {f"mode {mode}": f"{value:.5f}" for mode, value in enumerate(mapping, 1)}
                for epoch, *mapping in measured(x, vectors, hidden, activation, deviation, decay)
            ]
            found = pd.concat([found, pd.DataFrame(rows)])
            found.to_csv(file, index=False)


def picture(activation: Activation) -> None:
    """Draw the table with the functions of the workflow's figure."""
    table = pd.read_csv(RESULTS / f"pretorius2018_{activation}.csv")
    long = table.melt(["images", "count", "kind", "variance", "epoch"], value_name="mapping")
    curves = long.assign(
        images=[
            f"{name}, N = {count:,}"
            for name, count in zip(long["images"], long["count"], strict=True)
        ],
        mode=long["variable"].str.split().str[1].astype(int),
        deviation=long["variance"] ** 0.5,
        activation=activation,
        paper=np.nan,
    )
    draw(curves).savefig(DOCS / f"pretorius2018_{activation}.png", metadata={"Software": None})


if __name__ == "__main__":
    if sys.argv[1] == "draw":
        picture(sys.argv[2])
    else:
        train(sys.argv[1], Path(sys.argv[2]))
