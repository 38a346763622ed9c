"""Steck 2020, Section 4, below the theorem: what Eq. 6 leaves of the diagonal of B."""

import numpy as np

from lindrop.claims.checks import CORRECTED, Check, at_least, at_most, equal
from lindrop.papers.steck2020.problems import EXACT

GRID = np.linspace(0.01, 0.99, 99)  # of p, and of b at a = 1
FALLING = np.array([1, *GRID[::-1], 1e-6])  # b, from a towards 0
LEFT = 1e-3  # of the diagonal at the last of them, at most


def checks(seed: int) -> list[Check]:
    """Every check of this file; nothing is random."""
    return [*_shares(), *_any_degree()]


def _shares() -> list[Check]:
    """That in the penalty is at most 1 from p = √b/(√a + √b) on only: the paper overlooks it."""
    p, b = np.meshgrid(GRID, GRID)
    mean, least = p + b * (1 - p), np.sqrt(b) / (1 + np.sqrt(b))
    squared, penalty = b / mean, np.sqrt(b) / mean
    much, little = penalty[p >= least].max(), penalty[p < least].min()
    claim, share = "section_4_fractions", "share of the diagonal left in"
    more = f"smallest {share} the penalty over that in the squared error"
    smallest = (penalty / squared).min()
    return [
        at_most(claim, f"largest {share} the squared error", squared.max(), 1),
        at_most(claim, f"largest {share} the penalty", penalty.max(), 1),
        at_most(
            claim,
            f"largest {share} the penalty where p ≥ √b/(√a + √b)",
            much,
            1,
            EXACT,
            CORRECTED,
        ),
        at_least(claim, f"smallest {share} the penalty at a smaller p", little, 1, 0, CORRECTED),
        at_least("section_4_more", more, smallest, 1),
    ]


def _any_degree() -> list[Check]:
    p = GRID[:, None]
    shares = FALLING / (p + FALLING * (1 - p))
    rise, last = np.diff(shares, axis=1).max(), shares[:, -1].max()
    claim, share = "section_4_any_degree", "share of the diagonal left in the squared error"
    return [
        equal(claim, f"smallest {share} at b = a", shares[:, 0].min(), 1, EXACT),
        at_most(claim, f"largest rise of the {share} as b falls to 0", rise, 0),
        equal(claim, f"largest {share} at b = 1e-6 a", last, 0, LEFT),
    ]
