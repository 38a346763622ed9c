"""Dropout schemes: random masks z of the hidden nodes, and their characteristic matrices.

With μ = E[z] and C = Cov(z), a scheme affects the expected squared loss only through its
characteristic matrix C̄, c̄_ij = c_ij/(μ_i μ_j) (Pal 2020, Eq. 16). The noise of a scheme is z/μ,
which has mean one and covariance C̄.

Masks are a function of independent coins with a common probability of heads. Enumerating all
outcomes of the coins gives the exact distribution of the masks.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector


class Scheme(NamedTuple):
    """Dropout scheme that keeps every hidden node with the same probability μ."""

    coins: int  # number of coins that determine a mask
    heads: float  # probability of heads; heads keep nodes
    masks: Callable[[Matrix], Matrix]  # maps coins (draws × coins) to draws × nodes, true if kept
    mean: float  # μ
    characteristic: Matrix  # C̄, nodes × nodes

    def noise(self, draws: int, rng: np.random.Generator) -> Matrix:
        """Noise z/μ of independent draws, as draws × nodes."""
        return self.masks(rng.random((draws, self.coins)) < self.heads) / self.mean


def dropout(nodes: int, keep: float) -> Scheme:
    """Dropout: every node is kept independently with probability θ (`keep`)."""
    return dropblock(nodes, keep, 1)


def dropblock(nodes: int, keep: float, block: int) -> Scheme:
    """DropBlockSample(θ, r) of Pal 2020, Algorithm 1: r consecutive nodes are kept together."""
    if nodes % block:
        raise ValueError(f"{nodes} nodes are no multiple of a block of {block}")
    blocks = nodes // block

    def masks(kept: Matrix) -> Matrix:
        return np.repeat(kept, block, axis=-1)

    together = np.kron(np.eye(blocks), np.ones((block, block)))
    return Scheme(blocks, keep, masks, keep, (1 - keep) / keep * together)


def overlapping_dropblock(nodes: int, seed_keep: float, block: int) -> Scheme:
    """Original DropBlock (Pal 2020, Section 5.3): a seed at any place drops the r nodes from there.

    A place has no seed with probability θ' (`seed_keep`). There are places before the first node
    too, so that every node is in reach of r places and is kept with probability μ = θ'^r. Two nodes
    i, j are in reach of (r − |i − j|)₊ common places, hence c̄_ij = μ^{−(1 − |i − j|/r)₊} − 1.
    """

    def masks(harmless: Matrix) -> Matrix:
        seeds = np.lib.stride_tricks.sliding_window_view(harmless, block, axis=-1)
        return np.asarray(seeds.all(axis=-1))

    place = np.arange(nodes)
    shared = np.maximum(block - np.abs(place[:, None] - place), 0)
    characteristic = seed_keep ** -shared.astype(float) - 1
    return Scheme(nodes + block - 1, seed_keep, masks, seed_keep**block, characteristic)


def seed_keep_of(keep: float, block: int) -> float:
    """θ' = θ^{1/r}, with which overlapping DropBlock keeps a node with probability θ (E19)."""
    return float(keep ** (1 / block))


def seed_keep_as_printed(keep: float, k: float) -> float:
    """θ' = 1 − (1 − θ)^{1/(2k−1)} as printed in Pal 2020, Section 5.3.

    The paper calls θ and θ' probabilities of keeping. Where both are probabilities of dropping and
    2k − 1 = r places are in reach of a node, this is the rule that `seed_keep_of` has (E19).
    """
    return float(1 - (1 - keep) ** (1 / (2 * k - 1)))


def dropconnect_noise(
    shape: tuple[int, ...], keep: float, draws: int, rng: np.random.Generator
) -> Matrix:
    """Noise Z/θ of DropConnect (Pal 2020, Section 4): every weight is kept with probability θ.

    Returns draws × shape; `shape` is that of the weights V.
    """
    return (rng.random((draws, *shape)) < keep) / keep


def gaussian_noise(characteristic: Matrix, draws: int, rng: np.random.Generator) -> Matrix:
    """Gaussian noise of mean one and covariance C̄ (`characteristic`), as draws × nodes.

    The expected objective depends on C̄ only, not on the distribution (Pal 2020, Lemma 3.1), so this
    noise also serves a C̄ that no scheme of keeping and dropping nodes has.
    """
    values, vectors = np.linalg.eigh(characteristic)
    if values[0] < -1e-12 * max(values[-1], 1.0):
        raise ValueError("no noise has a covariance with negative eigenvalues")
    root = vectors * np.sqrt(np.maximum(values, 0))
    return np.asarray(1 + rng.normal(size=(draws, len(root))) @ root.T)


def characteristic_of(masks: Matrix, probabilities: Vector) -> Matrix:
    """C̄ by its definition (Pal 2020, Eq. 16), from all masks (a row each) with probabilities."""
    mean = probabilities @ masks
    covariance = (masks - mean).T @ (probabilities[:, None] * (masks - mean))
    return np.asarray(covariance / np.outer(mean, mean))
