"""Steck 2020, Section 6: what the text says of Figure 1 (left), asked of the figure's own data.

As in the figure, EDLAE stands beside Eq. 11 and the unconstrained model, both with a plain λI.
"""

from functools import partial

import numpy as np
import pandas as pd

from lindrop.claims.checks import Check, at_least, at_most
from lindrop.papers.steck2020.experiments import Dataset

EDLAE, CONSTRAINED, FREE = "edlae", "zero_diagonal_l2", "product_l2"
LARGE_RANK = 1_000  # of the text
NETFLIX_CROSSING = 100  # of the text: "about"
SIGNIFICANT = 2  # standard errors
NEARLY, LOW = 0.98, 0.9  # of nDCG@100
SMALL_RANK = 0.1  # of the full rank; 100 of 17,769 is far below


class Curves:
    """nDCG@100 of every curve by rank, ending with the full-rank model; one dataset."""

    def __init__(self, data: pd.DataFrame):
        means = data.pivot(index="rank", columns="curve", values="mean")
        self.edlae, self.constrained, self.free = (
            means[curve].to_numpy(float) for curve in (EDLAE, CONSTRAINED, FREE)
        )
        self.ranks = means.index.to_numpy(int)
        errors = data.pivot(index="rank", columns="curve", values="stderr")
        self.error = errors[EDLAE].to_numpy(float)

    @property
    def full(self) -> int:
        return int(self.ranks[-1])

    @property
    def large(self) -> int:
        """Where the low rank is that is nearest to the paper's, by ratio."""
        return int(np.argmin(np.abs(np.log(self.ranks[:-1] / LARGE_RANK))))

    @property
    def crossing(self) -> float:
        """The rank from which on the constrained model is better, log-linear between two ranks."""
        lead = self.constrained - self.free
        behind = np.flatnonzero(lead <= 0)
        if not behind.size:
            return float(self.ranks[0])
        last = behind[-1]
        if last == len(lead) - 1:
            return float(self.full)
        low, high = np.log(self.ranks[last : last + 2])
        share = lead[last] / (lead[last] - lead[last + 1])
        return float(np.exp(low + (high - low) * share))


def rank_checks(dataset: Dataset, data: pd.DataFrame) -> list[Check]:
    """Of a dataset's lines in the figure's csv."""
    curves = Curves(data)
    return [
        _best_everywhere(dataset, curves),
        *_large_ranks(dataset, curves),
        *_small_ranks(dataset, curves),
        *_crossing(dataset, curves),
    ]


def _best_everywhere(dataset: Dataset, curves: Curves) -> Check:
    others = np.maximum(curves.constrained, curves.free)
    lead = ((curves.edlae - others) / curves.error).min()
    what = f"{dataset.name}: least lead of EDLAE at any rank, in standard errors"
    return at_least("fig1_highest", what, lead, -1, data=dataset.data)


def _large_ranks(dataset: Dataset, curves: Curves) -> list[Check]:
    at = curves.large
    best, constrained, error = (
        values[at] for values in (curves.edlae, curves.constrained, curves.error)
    )
    apart, fall = abs(best - constrained) / error, (curves.edlae[-1] - best) / error
    rank = f"{dataset.name}, rank {curves.ranks[at]} of {curves.full}"
    what = f"{rank}: in standard errors, EDLAE's"
    check = partial(at_most, data=dataset.data)
    return [
        check("fig1_large_ranks", f"{what} distance to Eq. 11", apart, 1),
        check("fig1_full_rank", f"{what} fall from full rank", fall, SIGNIFICANT),
    ]


def _small_ranks(dataset: Dataset, curves: Curves) -> list[Check]:
    best, constrained, free = curves.edlae[0], curves.constrained[0], curves.free[0]
    what = f"{dataset.name}, rank {curves.ranks[0]}: nDCG@100 of"
    small = partial(at_least, "fig1_small_ranks", data=dataset.data)
    low = partial(at_most, "fig1_capacity", data=dataset.data)
    return [
        small(f"{what} the unconstrained model over EDLAE", free / best, NEARLY),
        small(f"{what} the unconstrained model less Eq. 11", free - constrained, 0),
        low(f"{what} EDLAE over full rank", best / curves.edlae[-1], LOW),
    ]


def _crossing(dataset: Dataset, curves: Curves) -> list[Check]:
    """Where the unconstrained model falls behind for good; on Netflix the paper says where."""
    what = f"{dataset.name}: rank from which on Eq. 11 is better"
    check = partial(at_most, "fig1_crossing", data=dataset.data)
    checks = [check(f"{what}, over the full rank", curves.crossing / curves.full, SMALL_RANK)]
    if dataset.paper == "Netflix":
        factor = max(curves.crossing / NETFLIX_CROSSING, NETFLIX_CROSSING / curves.crossing)
        checks.append(check(f"{what}: its factor from 100, either way", factor, 3))
    return checks
