"""Pal 2020, Section 3: laws of masks with one characteristic matrix have one objective."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from lindrop.claims.checks import STANDARD_ERRORS, Check, equal
from lindrop.dropout.samplers import gaussian_noise, overlapping_dropblock, seed_keep_of
from lindrop.dropout.structured import loss, objective
from lindrop.papers.pal2020.small_net import KEEP, Net, agree, every_mask, mean_loss, small_net
from lindrop.papers.pal2020.synthetic import Noise, synthetic

CLAIM = "section_3_characteristic"
NODES, BLOCK = 6, 2
DRAWS, DRAWS_AT_ONCE = 1000, 100


def checks(seed: int) -> list[Check]:
    """Checks of laws that share C̄: by all masks of a small network, and by samples."""
    nodes, drawn = np.random.default_rng(seed).spawn(2)
    return [*_two_sided(small_net(nodes, NODES)), *_sampled(drawn)]


def _two_sided(net: Net) -> Iterator[Check]:
    """Check of masks of zeros and ones against noise with the same C̄.

    The noise takes 2d values, all equally likely.
    """
    scheme = overlapping_dropblock(NODES, KEEP, BLOCK)
    masks, chances = every_mask(scheme)
    mean = mean_loss(net, net.features, masks / scheme.mean, chances)
    shifts = np.sqrt(NODES) * np.linalg.cholesky(scheme.characteristic).T
    noise = np.vstack((1 + shifts, 1 - shifts))
    other = mean_loss(net, net.features, noise, np.full(len(noise), 1 / len(noise)))
    yield agree(CLAIM, "loss expected of other noise with the C̄ of overlapping blocks", other, mean)


def _sampled(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of sampled masks and Gaussian noise, at U₀ and V₀ of the synthetic set."""
    data, *streams = rng.spawn(3)
    problem = synthetic(data)
    hidden = problem.v.T @ problem.x
    scheme = overlapping_dropblock(len(hidden), seed_keep_of(0.5, 5), 5)
    formula = objective(problem.y, problem.u, hidden, scheme.characteristic)
    laws: dict[str, Noise] = {
        "overlapping DropBlock": scheme.noise,
        "Gaussian noise of its C̄": partial(gaussian_noise, scheme.characteristic),
    }
    for (name, noise), stream in zip(laws.items(), streams, strict=True):
        losses = np.concatenate(
            [
                loss(problem.y, problem.u, noise(DRAWS_AT_ONCE, stream)[:, :, None] * hidden)
                for _ in range(DRAWS // DRAWS_AT_ONCE)
            ]
        )
        error = float(losses.std(ddof=1)) / np.sqrt(DRAWS)
        what = f"Eq. 14 on the synthetic set: mean of {DRAWS} draws, {name}; 5 standard errors"
        yield equal(CLAIM, what, losses.mean(), formula, STANDARD_ERRORS * error)
