"""Steck 2020, supplement, Section 4: alternating updates for Eq. 11 with multipliers η (E5)."""

from itertools import islice

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    EXTENSION,
    LIMIT,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.models.base import LowRank
from lindrop.models.edlae.as_published import printed_alternation
from lindrop.papers.steck2020.checks.low_rank import zero_diagonal
from lindrop.papers.steck2020.problems import (
    EXACT,
    FEATURES,
    Quadratic,
    fitted,
    noise,
    product_of,
    steepness,
)

P = 0.33
LOW, HIGH = (2, 4), 8  # ranks: rank² − 1 is below, above the number of features
LONG = 10_000  # iterations of the alternation
STEPS = 50  # iterations on which V'V is to be invertible
MINIMAL = 1e-6
APART, ABOVE = 0.05, 1e-4  # least distance of the multipliers, and excess, where alternation stalls


def checks(seed: int) -> list[Check]:
    """Checks of the updates of Eq. 29 to 32, of their slopes and of where alternation ends."""
    data, weights = np.random.default_rng(seed).spawn(2)
    x = fitted(data)
    loss = Quadratic(x.T @ x, noise(x, P))
    return [*_updates(loss, weights), *_ends(x, loss, weights)]


def multipliers_30(loss: Quadratic, u: Matrix) -> Vector:
    """η of Eq. 30, the multipliers of the best V for a given U."""
    projection = u @ np.linalg.solve(u.T @ loss.h @ u, u.T)
    return np.asarray(np.diag(projection @ loss.gram) / np.diag(projection))


def multipliers_32(loss: Quadratic, v: Matrix) -> Vector:
    """η of Eq. 32, the multipliers of the best U for a given V."""
    c, projection = np.linalg.inv(loss.h), v @ np.linalg.solve(v.T @ v, v.T)
    return np.asarray(np.linalg.solve(c * projection, np.diag(c @ loss.gram @ projection)))


def best_decoder(loss: Quadratic, u: Matrix, eta: Vector) -> Matrix:
    """V of Eq. 29 for given U and η."""
    target = u.T @ (loss.gram - np.diag(eta))
    return np.asarray(np.linalg.solve(u.T @ loss.h @ u, target).T)


def best_encoder(loss: Quadratic, v: Matrix, eta: Vector) -> Matrix:
    """U of Eq. 31 for given V and η."""
    dual = v @ np.linalg.inv(v.T @ v)
    return np.asarray(np.linalg.solve(loss.h, (loss.gram - np.diag(eta)) @ dual))


def _updates(loss: Quadratic, rng: np.random.Generator) -> list[Check]:
    """Checks that Eq. 29 and 31 zero the slope of the Lagrangian (Eq. 28) at any η.

    The η of Eq. 30 and 32 are checked to make diag(UV') zero.
    """
    u, v = rng.normal(size=(2, FEATURES, HIGH))
    eta = rng.normal(size=FEATURES) * np.diag(loss.gram)

    def lagrangian_slope(b: Matrix) -> Matrix:
        return np.asarray(loss.slope(b) + 2 * np.diag(eta))

    decoder, encoder = best_decoder(loss, u, eta), best_encoder(loss, v, eta)
    in_v = lagrangian_slope(u @ decoder.T).T @ u
    in_u = lagrangian_slope(encoder @ v.T) @ v
    met = {
        "supplement_equation_30": u @ best_decoder(loss, u, multipliers_30(loss, u)).T,
        "supplement_equation_32": best_encoder(loss, v, multipliers_32(loss, v)) @ v.T,
    }
    slope, own = "relative slope of Eq. 28", "largest entry of diag(UV') over that of UV'"
    size = _largest(loss.gram @ v)
    return [
        equal("supplement_equation_29", f"{slope} in V", _largest(in_v) / size, 0, EXACT),
        equal("supplement_equation_31", f"{slope} in U", _largest(in_u) / size, 0, EXACT),
        *(
            equal(equation, own, _largest(np.diag(b)) / _largest(b), 0, EXACT)
            for equation, b in met.items()
        ),
        *_invertible(loss, v),
    ]


def _invertible(loss: Quadratic, v: Matrix) -> list[Check]:
    """Checks of V'V on the way of the alternation; at rank 1 Eq. 29 and 30 make V zero."""
    steps = islice(printed_alternation(loss.gram, P, 0.0, v, True), STEPS)
    squares = [np.linalg.svd(v, compute_uv=False)[[-1, 0]] ** 2 for _, v in steps]
    one = v[:, :1]
    none = best_decoder(loss, one, multipliers_30(loss, one)) / _largest(
        best_decoder(loss, one, np.zeros(FEATURES))
    )
    claim = "supplement_4_invertible"
    return [
        at_least(
            claim,
            f"rank {HIGH} of {FEATURES}, {STEPS} iterations: least eigenvalue of V'V over the "
            "largest, the smallest",
            min(small / large for small, large in squares),
            EXACT,
        ),
        equal(
            claim, "rank 1: V of Eq. 29 and 30 over that at η = 0", _largest(none), 0, EXACT, LIMIT
        ),
    ]


def _ends(x: Matrix, loss: Quadratic, rng: np.random.Generator) -> list[Check]:
    """Checks of where alternation ends: stationary for Eq. 11 if the rank is large enough.

    The paper offers Eq. 11 for large ranks. What is large enough is the extension E5.
    """
    high, gap = _alternated(loss, rng.normal(size=(FEATURES, HIGH)))
    ours = loss.value(product_of(zero_diagonal(x, HIGH)))
    excess = loss.value(product_of(high)) / ours - 1
    at = f"rank {HIGH} of {FEATURES}, where alternation ends:"
    apart = "distance of the η of Eq. 30 and 32"
    checks = [
        equal("supplement_4_multipliers", f"{at} {apart}", gap, 0, MINIMAL),
        equal("e5", f"{at} slope of the Lagrangian", _steepness(loss, high), 0, MINIMAL),
        at_most("e5", f"{at} Eq. 11 over that of another solver, less 1", excess, 0, MINIMAL),
    ]
    for rank in LOW:
        low, gap = _alternated(loss, rng.normal(size=(FEATURES, rank)))
        other = zero_diagonal(x, rank)
        above = loss.value(product_of(low)) / loss.value(product_of(other)) - 1
        at = f"rank {rank} of {FEATURES}, iteration {LONG:,}:"
        ends = f"rank {rank} of {FEATURES}, where the corrected ADMM ends:"
        slope = _steepness(loss, other)
        checks += [
            at_least("e5", f"{at} {apart}", gap, APART, 0, EXTENSION),
            at_least("e5", f"{at} Eq. 11 above the ADMM's, relative", above, ABOVE, 0, EXTENSION),
            equal("e5", f"{ends} slope of the Lagrangian", slope, 0, MINIMAL, EXTENSION),
        ]
    return checks


def _alternated(loss: Quadratic, v: Matrix) -> tuple[LowRank, float]:
    """Model at which Eq. 29 to 32 end, and the distance of its two η from each other."""
    u, v = next(islice(printed_alternation(loss.gram, P, 0.0, v, True), LONG - 1, None))
    return LowRank(u, v), relative_distance(multipliers_30(loss, u), multipliers_32(loss, v))


def _steepness(loss: Quadratic, model: LowRank) -> float:
    """Relative slope of the Lagrangian at a model, with the η that minimise this slope."""
    even = model.balanced()
    slope, u, v = loss.slope(product_of(even)), even.encoder, even.decoder
    along = np.sum(slope @ v * v, axis=1) + np.sum(slope.T @ u * u, axis=1)
    eta = along / (np.sum(u**2, axis=1) + np.sum(v**2, axis=1))
    return steepness(slope - np.diag(eta), even, loss.gram)


def _largest(values: Matrix) -> float:
    return float(np.abs(values).max())
