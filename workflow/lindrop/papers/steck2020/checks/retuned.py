"""Steck 2020, supplement, Section 3: the printed ADMM with p and λ as training-hyper-parameters.

Put in with Λ and Ω, its updates lead to EDLAE with other p and λ (E3). So it is asked whether they
lead to EDLAE at all, at several ranks and strengths of dropout. Eq. 10 has local minima: of several
starts, among them the model without emphasis, the best end counts.
"""

from collections.abc import Iterable
from itertools import islice, product

import numpy as np

from lindrop.claims.checks import CHARITABLE, CORRECTED, Check, at_most, equal, relative_distance
from lindrop.models.base import LowRank
from lindrop.models.closed_form import fit_dropout_l2
from lindrop.models.edlae.as_published import printed_admm
from lindrop.models.edlae.fit import fit_edlae
from lindrop.papers.steck2020.checks.low_rank import alternated
from lindrop.papers.steck2020.problems import (
    FEATURES,
    Quadratic,
    fitted,
    low_rank,
    noise,
    off,
    product_of,
    training,
)

DROPOUTS = 0.2, 0.33, 0.5
SMALL, LARGER = (1, 2), (4, 8)  # ranks
RANDOM = 3  # random starts, beside the model without emphasis
RIDGE, OMEGA = 20.0, 10.0  # λ of the Eq. 10 to be minimised, and ω ≤ λ
SWEEPS, ITERATIONS = 400, 1000  # iterations of exact ALS and of the printed ADMM
MINIMAL = 1e-6  # relative error of a solver's objective, or of its model off the diagonal


def checks(seed: int) -> list[Check]:
    """Checks of where the printed updates end, with given and with changed p and λ."""
    cases = {
        ranks: [Case(seed, p, rank) for p, rank in product(DROPOUTS, ranks)]
        for ranks in (SMALL, LARGER)
    }
    starts = f"p = {', '.join(map(str, DROPOUTS))}, best of {1 + RANDOM} starts"
    small, larger = (
        f"{starts}, ranks {ranks[0]} and {ranks[1]} of {FEATURES}: printed ADMM" for ranks in cases
    )
    changed = "with p/(2 − p) and (λ − ω)/2: Eq. 10 of p and λ above"
    claim = "section_4_1_2_admm"
    return [
        equal(
            "e3",
            f"{small} off the diagonal, relative distance to EDLAE of 2p/(1 + p) and 2λ + ω, the "
            "largest",
            max(case.distance_to_other() for case in cases[SMALL]),
            0,
            MINIMAL,
            CORRECTED,
        ),
        equal(
            claim,
            f"{small} {changed} its minimum, relative, the largest",
            max(case.excess()[0] for case in cases[SMALL]),
            0,
            MINIMAL,
            CHARITABLE,
        ),
        at_most(
            claim,
            f"{larger} {changed} the least value known, over that of the model without emphasis, "
            "the largest",
            max(ended / plain for ended, plain in (case.excess() for case in cases[LARGER])),
            1,
            form=CHARITABLE,
        ),
    ]


class Case:
    """A small dataset, p and a rank, with starts of the printed ADMM and of alternation."""

    def __init__(self, seed: int, p: float, rank: int):
        self.x, self.p, self.rank = fitted(np.random.default_rng(seed)), p, rank
        self.plain = low_rank(fit_dropout_l2(training(self.x), rank, p, RIDGE))
        random = np.random.default_rng([seed, rank]).normal(size=(RANDOM, FEATURES, rank))
        self.starts = [self.plain.decoder, *random]

    def loss(self, p: float, ridge: float) -> Quadratic:
        """The loss whose `edlae` is Eq. 10 with p and λ."""
        return Quadratic(self.x.T @ self.x, noise(self.x, p) + ridge)

    def ends(self, p: float, ridge: float) -> list[LowRank]:
        """Where the printed updates with p and λ end, from every start."""
        gram = self.x.T @ self.x
        runs = (printed_admm(gram, p, ridge, OMEGA, start) for start in self.starts)
        return [LowRank(*next(islice(run, ITERATIONS - 1, None))) for run in runs]

    def distance_to_other(self) -> float:
        """Distance, off the diagonal, of the printed ADMM's end to EDLAE with other p and λ."""
        other = self.loss(2 * self.p / (1 + self.p), 2 * RIDGE + OMEGA)
        end = best(other, self.ends(self.p, RIDGE))
        exact = best(other, (alternated(other, start) for start in self.starts))
        return relative_distance(off(product_of(end)), off(product_of(exact)))

    def excess(self) -> tuple[float, float]:
        """Relative excess of Eq. 10 over its least value known: of the ADMM, without emphasis.

        Exact alternation by the library, from eigenvectors, and the ADMM itself are what is known.
        """
        loss = self.loss(self.p, RIDGE)
        ((_, exact),) = fit_edlae(
            training(self.x),
            [self.rank],
            self.p,
            RIDGE,
            solver="als",
            iterations=SWEEPS,
            tolerance=-1,
        )
        end = best(loss, self.ends(self.p / (2 - self.p), (RIDGE - OMEGA) / 2))
        ended, least, plain = (
            loss.edlae(product_of(model)) for model in (end, low_rank(exact), self.plain)
        )
        lowest = min(ended, least)
        return ended / lowest - 1, plain / lowest - 1


def best(loss: Quadratic, models: Iterable[LowRank]) -> LowRank:
    """The model with the least Eq. 10."""
    return min(models, key=lambda model: loss.edlae(product_of(model)))
