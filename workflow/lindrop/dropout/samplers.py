"""Schemes of dropout: random masks z of the hidden nodes, and their characteristic matrices.

Pal 2020, Section 3: with μ = E[z] and C = Cov(z), a scheme acts on the squared loss through its
characteristic matrix C̄, c̄_ij = c_ij/(μ_i μ_j) (Eq. 16), alone. So z/μ, of mean one and covariance
C̄, is what is drawn here: the noise of the scheme.

The masks of a scheme are a function of coins, independent and heads with one probability. Every
outcome of the coins in place of drawn ones gives the distribution of the masks exactly.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector


class Scheme(NamedTuple):
    """Masks of hidden nodes, which are all kept with the same probability μ."""

    coins: int  # that make a mask
    heads: float  # the probability of heads, which keeps
    masks: Callable[[Matrix], Matrix]  # of coins (draws × coins): draws × nodes, true if kept
    mean: float  # μ
    characteristic: Matrix  # C̄

    def noise(self, draws: int, rng: np.random.Generator) -> Matrix:
        """z/μ of as many draws, a row each."""
        return self.masks(rng.random((draws, self.coins)) < self.heads) / self.mean


def dropout(nodes: int, keep: float) -> Scheme:
    """Every node is kept with probability θ, by itself."""
    return dropblock(nodes, keep, 1)


def dropblock(nodes: int, keep: float, block: int) -> Scheme:
    """DropBlockSample(θ, r) of Algorithm 1: r consecutive nodes are kept or dropped together."""
    if nodes % block:
        raise ValueError(f"{nodes} nodes are no multiple of a block of {block}")
    blocks = nodes // block

    def masks(kept: Matrix) -> Matrix:
        return np.repeat(kept, block, axis=-1)

    together = np.kron(np.eye(blocks), np.ones((block, block)))
    return Scheme(blocks, keep, masks, keep, (1 - keep) / keep * together)


def overlapping_dropblock(nodes: int, seed_keep: float, block: int) -> Scheme:
    """The original DropBlock (Section 5.3): a seed at any place drops the r nodes from there on.

    A seed is harmless with probability θ'. Some lie before the first node, so that every node is
    in reach of r seeds: it is kept with probability μ = θ'^r. Two nodes i, j share the seeds of
    (r − |i − j|)₊ places, hence c̄_ij = μ^{−(1 − |i − j|/r)₊} − 1.
    """

    def masks(harmless: Matrix) -> Matrix:
        seeds = np.lib.stride_tricks.sliding_window_view(harmless, block, axis=-1)
        return np.asarray(seeds.all(axis=-1))

    place = np.arange(nodes)
    shared = np.maximum(block - np.abs(place[:, None] - place), 0)
    characteristic = seed_keep ** -shared.astype(float) - 1
    return Scheme(nodes + block - 1, seed_keep, masks, seed_keep**block, characteristic)


def seed_keep_of(keep: float, block: int) -> float:
    """θ' with which overlapping DropBlock keeps a node as often as θ on the grid does (E19)."""
    return float(keep ** (1 / block))


def seed_keep_as_printed(keep: float, block: int) -> float:
    """θ' of Section 5.3; its window of 2k − 1 places around a node is the block size.

    With θ and 1 − θ exchanged it is the probability that a seed drops, not that it is harmless.
    """
    return float(1 - (1 - keep) ** (1 / block))


def dropconnect_noise(
    shape: tuple[int, ...], keep: float, draws: int, rng: np.random.Generator
) -> Matrix:
    """Z/θ of DropConnect (Section 4): a mask of the weights V, every entry by itself."""
    return (rng.random((draws, *shape)) < keep) / keep


def gaussian_noise(characteristic: Matrix, draws: int, rng: np.random.Generator) -> Matrix:
    """Noise of mean one and any covariance C̄ without negative eigenvalues.

    It multiplies nodes instead of dropping them, and whatever its law has the same expected
    objective (Lemma 3.1). Not every C̄ belongs to nodes that are only kept or dropped.
    """
    values, vectors = np.linalg.eigh(characteristic)
    if values[0] < -1e-12 * max(values[-1], 1.0):
        raise ValueError("no noise has a covariance with negative eigenvalues")
    root = vectors * np.sqrt(np.maximum(values, 0))
    return np.asarray(1 + rng.normal(size=(draws, len(root))) @ root.T)


def characteristic_of(masks: Matrix, probabilities: Vector) -> Matrix:
    """C̄ by its definition, of any scheme with finitely many masks (a row each)."""
    mean = probabilities @ masks
    covariance = (masks - mean).T @ (probabilities[:, None] * (masks - mean))
    return np.asarray(covariance / np.outer(mean, mean))
