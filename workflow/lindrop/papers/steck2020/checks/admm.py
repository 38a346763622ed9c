"""Steck 2020, supplement, Section 3: what the ADMM updates for Eq. 10 minimise (E2, E3, E4).

The updates are those printed in the supplement and those of the authors' notebook. Each single
update is compared with the minimum of Eq. 27, and the end of the iteration with that of Eq. 10.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    CORRECTED,
    LIMIT,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.models.base import LowRank
from lindrop.models.closed_form import fit_dropout_l2
from lindrop.models.edlae.as_published import notebook_admm, notebook_start, printed_admm
from lindrop.models.edlae.fit import fit_edlae
from lindrop.papers.steck2020.problems import (
    EXACT,
    FEATURES,
    Quadratic,
    fitted,
    low_rank,
    noise,
    product_of,
    steepness,
    training,
)

P, OMEGA, RANK = 0.33, 50.0, 2
UPDATES_RANK = 4  # rank of the random U and V at which single updates are checked
SWEEPS, ITERATIONS = 400, 4000  # iterations of exact ALS and of the corrected ADMM
PUBLISHED = range(5, 21)  # iterations among which the notebook chooses by validation
NOTEBOOK_RANKS = 1, 2, 4
LONG = 3000  # iterations of the printed ADMM
STILL = 300  # iterations after which the notebook's ADMM at rank 1 no longer moves
MINIMAL = 1e-6  # relative error of a solver's objective and slope
ABOVE = "Eq. 10 above its minimum, relative"


def checks(seed: int) -> list[Check]:
    """Checks of the end of printed, published and corrected ADMM, and of the single updates."""
    x = fitted(np.random.default_rng(seed))
    loss = Quadratic(x.T @ x, noise(x, P))
    exact, corrected = (
        _solved(x, solver, count) for solver, count in (("als", SWEEPS), ("admm", ITERATIONS))
    )
    least = loss.edlae(product_of(exact))
    above = loss.edlae(product_of(corrected)) / least - 1
    return [
        *_printed(loss, exact, least),
        equal("e3", f"corrected ADMM: {ABOVE}", above, 0, MINIMAL, CORRECTED),
        *_notebook(x, loss),
        *_updates(seed),
    ]


def _solved(x: Matrix, solver: str, iterations: int, rank: int = RANK) -> LowRank:
    ((_, fit),) = fit_edlae(
        training(x), [rank], P, 0.0, solver=solver, iterations=iterations, tolerance=-1
    )
    return low_rank(fit)


def _printed(loss: Quadratic, exact: LowRank, least: float) -> list[Check]:
    """Checks of E3: where the printed updates end, from the minimum of Eq. 10.

    `retuned` has their ends from other starts, at other ranks, and for other p and λ.
    """
    updates = printed_admm(loss.gram, P, 0.0, OMEGA, exact.decoder)
    end = LowRank(*next(islice(updates, LONG - 1, None)))
    stronger = Quadratic(loss.gram, 2 * loss.penalty + OMEGA)
    b, what = product_of(end), "printed ADMM, where it ends:"
    slope, other = (steepness(of.edlae_slope(b), end, loss.gram) for of in (loss, stronger))
    return [
        equal("e3", f"{what} {ABOVE}", loss.edlae(b) / least - 1, 0, MINIMAL),
        equal("e3", f"{what} slope of Eq. 10", slope, 0, MINIMAL),
        equal("e3", f"{what} slope of Eq. 10 with 2Λ + ωI for Λ", other, 0, MINIMAL, CORRECTED),
    ]


def _notebook(x: Matrix, loss: Quadratic) -> list[Check]:
    """Checks of E4: the notebook's ADMM comes near the minimum of Eq. 10, then leaves it.

    Near means nearer than the model without emphasis (DLAE) of the same rank. At rank 1 the
    iteration stands still in the end, at a stationary point of another function; at rank 2 and
    above it does not.
    """
    shares, last = [], {}
    for rank in NOTEBOOK_RANKS:
        start = notebook_start(FEATURES, rank)
        steps = _finite(notebook_admm(loss.gram, P, 0.0, OMEGA, start), PUBLISHED.stop - 1)
        models = [product_of(LowRank(*step)) for step in steps[PUBLISHED.start - 1 :]]
        least = loss.edlae(product_of(_solved(x, "als", SWEEPS, rank=rank)))
        plain = product_of(low_rank(fit_dropout_l2(training(x), rank, P, 0.0)))
        nearest = min(map(loss.edlae, models))
        shares.append((nearest - least) / (loss.edlae(plain) - least))
        last[rank] = loss.edlae(models[-1]) / least - 1
    u, v = next(notebook_admm(loss.gram, P, 0.0, OMEGA, notebook_start(FEATURES, RANK)))
    ours, _ = next(printed_admm(loss.gram, P, 0.0, OMEGA, v))
    of_u, of_v = _first_slopes(loss, u, v)
    what = "notebook's ADMM"
    still, change = _still(loss)
    target = loss.edlae_slope(product_of(still))
    pulled = target - 2 * np.diag((loss.penalty + OMEGA) * np.diag(product_of(still)))
    ends = f"{what} at rank 1, where it stands still:"
    ranks = ", ".join(map(str, NOTEBOOK_RANKS))
    return [
        at_most(
            "e4",
            f"{what}, ranks {ranks}, iterations {PUBLISHED.start} to {PUBLISHED.stop - 1}: least "
            "excess of Eq. 10 over that of the model without emphasis, largest",
            max(shares),
            1,
        ),
        at_least(
            "e4",
            f"{what}: distance of its first U to the supplement's",
            relative_distance(u, ours),
            EXACT,
            0,
            LIMIT,
        ),
        at_least(
            "e4",
            f"{what} at rank {RANK}, iteration {PUBLISHED.stop - 1}: {ABOVE}",
            last[RANK],
            MINIMAL,
            0,
            LIMIT,
        ),
        equal("e4", f"{ends} last change of UV'", change, 0, EXACT, LIMIT),
        equal(
            "e4",
            f"{ends} slope of Eq. 10 − ‖Ω^½ diag UV'‖²",
            steepness(pulled, still, loss.gram),
            0,
            MINIMAL,
            LIMIT,
        ),
        equal(
            "e4",
            f"{what}: slope of Eq. 27 with Ω on all of UV' in its first V",
            of_v,
            0,
            EXACT,
            LIMIT,
        ),
        equal("e4", f"{what}: slope of Eq. 27 without Ω in its first U", of_u, 0, EXACT, LIMIT),
    ]


def _first_slopes(loss: Quadratic, u: Matrix, v: Matrix) -> tuple[float, float]:
    """Slopes of Eq. 27 at β = γ = 0 in the notebook's first U, without Ω, and in its first V.

    V was made from the start, with Ω on all of UV', and U from V.
    """
    zeros = np.zeros(FEATURES)
    start = notebook_start(FEATURES, RANK)
    with_omega = Updates(loss, start, v, zeros, zeros)
    of_u = relative_slope(lambda at: loss.value(at @ v.T), u)
    return of_u, relative_slope(lambda at: with_omega.lagrangian(start, at, zeros, -1, True), v)


def _still(loss: Quadratic) -> tuple[LowRank, float]:
    """Where the notebook's ADMM ends at rank 1, and the relative size of its last change."""
    steps = _finite(notebook_admm(loss.gram, P, 0.0, OMEGA, notebook_start(FEATURES, 1)), STILL)
    before, last = (LowRank(*step) for step in steps[-2:])
    return last, relative_distance(product_of(before), product_of(last))


def _finite(steps: Iterator[tuple[Matrix, Matrix]], count: int) -> list[tuple[Matrix, Matrix]]:
    """The first iterates, until one breaks down or is not finite."""
    found = []
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
        for u, v in islice(steps, count):
            if not np.isfinite(u @ v.T).all():
                break
            found.append((u, v))
    return found


def _updates(seed: int) -> list[Check]:
    """Checks of the single printed updates and of Eq. 26, at random U, V, β and γ."""
    data, weights = np.random.default_rng(seed).spawn(2)
    x = fitted(data)
    u, v = weights.normal(size=(2, FEATURES, UPDATES_RANK))
    updates = Updates(Quadratic(x.T @ x, noise(x, P)), u, v, *weights.normal(size=(2, FEATURES)))
    return [*_rewritten(updates), *_diagonal_update(updates), *_factor_updates(updates)]


@dataclass(frozen=True)
class Updates:
    """The printed updates of U, V and β, each given the other two, and the function of Eq. 27."""

    loss: Quadratic
    u: Matrix
    v: Matrix
    beta: Vector
    gamma: Vector

    @cached_property
    def omega(self) -> Vector:
        """Diagonal of Ω = Λ + ωI."""
        return np.asarray(self.loss.penalty + OMEGA)

    @cached_property
    def target(self) -> Matrix:
        """The matrix X'X dMat(1 + β) + Ω dMat(β − γ)."""
        pulled = np.diag(self.omega * (self.beta - self.gamma))
        return np.asarray(self.loss.gram * (1 + self.beta) + pulled)

    @cached_property
    def h(self) -> Matrix:
        """The matrix X'X + Λ + Ω."""
        return np.asarray(self.loss.h + np.diag(self.omega))

    def encoder(self) -> Matrix:
        """U after its printed update."""
        dual = self.v @ np.linalg.inv(self.v.T @ self.v)
        return np.linalg.solve(self.h, self.target @ dual)

    def decoder(self) -> Matrix:
        """V after its printed update."""
        return np.linalg.solve(self.u.T @ self.h @ self.u, self.u.T @ self.target).T

    def diagonal(self) -> Vector:
        """β after its printed update."""
        b, g = self.u @ self.v.T, np.diag(self.loss.gram)
        above = np.diag(self.loss.gram @ b) - g + self.omega * (np.diag(b) + self.gamma)
        return np.asarray(above / self.divisor)

    @property
    def divisor(self) -> Vector:
        """Divisor in the printed update of β."""
        return np.asarray(np.diag(self.loss.gram) + self.omega - self.loss.penalty)

    def lagrangian(
        self, u: Matrix, v: Matrix, beta: Vector, sign: int, whole: bool = False
    ) -> float:
        """Value of Eq. 27 with the multiplier's term times `sign`.

        If `whole`, Ω penalises all of dMat(β) − UV' instead of its diagonal alone.
        """
        b = u @ v.T
        gap = beta - np.diag(b)
        apart = np.diag(beta) - b if whole else np.diag(gap)
        penalty = self.omega @ np.sum(apart**2, axis=1)
        multiplied = 2 * sign * (self.gamma * self.omega) @ gap
        return self.rewritten(b, beta) + float(multiplied + penalty)

    def rewritten(self, b: Matrix, beta: Vector) -> float:
        """Value of Eq. 26 of the supplement."""
        rest = np.eye(len(b)) + np.diag(beta) - b
        penalty = self.loss.penalty
        penalties = penalty @ np.sum(b**2, axis=1) - penalty @ beta**2
        return float(np.vdot(rest, self.loss.gram @ rest) + penalties)


def relative_slope(value: Callable[[Matrix], float], at: Matrix) -> float:
    """Largest slope of a quadratic function over its largest slope at zero.

    Central differences are exact for a quadratic function.
    """

    def largest(here: Matrix) -> float:
        steps = np.eye(at.size).reshape(-1, *at.shape)
        return max(abs(value(here + step) - value(here - step)) / 2 for step in steps)

    return largest(at) / largest(np.zeros_like(at))


def _rewritten(updates: Updates) -> list[Check]:
    b = updates.u @ updates.v.T
    share = updates.rewritten(b, np.diag(b)) / updates.loss.edlae(b)
    least = updates.divisor.min() / OMEGA
    return [
        equal("supplement_equation_26", "Eq. 26 over Eq. 10, random U and V", share, 1, EXACT),
        at_least("supplement_3_omega", "smallest divisor in the update of β, over ω", least, 1),
    ]


def _diagonal_update(updates: Updates) -> list[Check]:
    def slope(sign: int) -> float:
        return relative_slope(
            lambda beta: updates.lagrangian(updates.u, updates.v, beta, sign), updates.diagonal()
        )

    what = "slope in β of Eq. 27 at the printed update, with"
    return [
        equal("e2", f"{what} +2γ'Ω(β − diag UV')", slope(1), 0, EXACT),
        equal(
            "e2",
            f"{what} −2γ'Ω(β − diag UV'), the updates' sign",
            slope(-1),
            0,
            EXACT,
            CHARITABLE,
        ),
    ]


def _factor_updates(updates: Updates) -> list[Check]:
    """Checks of the updates of U and V, with the corrected sign of γ in Eq. 27 (E2).

    They follow from Eq. 27 if Ω penalises all of dMat(β) − UV'. With that for a misprint of Eq. 27,
    it would have to be Eq. 26 where its constraint diag(UV') = β holds, as every augmented
    Lagrangian is.
    """

    def slopes(whole: bool) -> dict[str, float]:
        v, u, beta = updates.v, updates.u, updates.beta
        return {
            "U": relative_slope(
                lambda of: updates.lagrangian(of, v, beta, -1, whole), updates.encoder()
            ),
            "V": relative_slope(
                lambda of: updates.lagrangian(u, of, beta, -1, whole), updates.decoder()
            ),
        }

    def over_26(whole: bool) -> float:
        b = updates.u @ updates.v.T
        met = updates.lagrangian(updates.u, updates.v, np.diag(b), -1, whole)
        return met / updates.rewritten(b, np.diag(b))

    claim = "supplement_3_updates"
    what, whole = "of Eq. 27, its sign put right, at the printed update", "if Ω weighs all of UV'"
    constrained = "Eq. 27 over Eq. 26 where diag(UV') = β"
    return [
        *(
            equal(claim, f"slope in {name} {what}", found, 0, EXACT)
            for name, found in slopes(whole=False).items()
        ),
        *(
            equal(claim, f"slope in {name} {what}, {whole}", found, 0, EXACT, CORRECTED)
            for name, found in slopes(whole=True).items()
        ),
        equal(claim, constrained, over_26(whole=False), 1, EXACT),
        equal(claim, f"{constrained}, {whole}", over_26(whole=True), 1, EXACT, CHARITABLE),
    ]
