"""Steck 2020, Section 4.1.2: low-rank EDLAE (Eq. 10), its approximation Eq. 11, the corollary.

The corollary is about the dot products U_i·V_i = B_ii, which do not depend on how B = UV' is
factored; cosines do. Eq. 10 does not contain them. At a rank at which its minimum is that of full
rank, it has many minima, which differ on the diagonal alone: with B the full-rank EDLAE (Eq. 8) and
μ one of its m eigenvalues, all of them real, B − μI is one of rank m − 1, with every entry of its
diagonal −μ. A vanishing ridge ε‖UV'‖² picks the minimum with the smallest diagonal.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    LIMIT,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.linalg.packed import PackedGram
from lindrop.models.base import LowRank
from lindrop.models.closed_form import fit_dropout_l2
from lindrop.models.edlae.als import ExactEncoder
from lindrop.models.edlae.fit import fit_zero_diagonal
from lindrop.models.edlae.objective import Problem
from lindrop.papers.steck2020.checks.full_rank import regressions
from lindrop.papers.steck2020.problems import (
    EXACT,
    FEATURES,
    Masked,
    Quadratic,
    enumerable,
    equation_6,
    fitted,
    low_rank,
    noise,
    off,
    product_of,
    training,
)

P = 0.33
RANKS = 3, 6, 12, 17, 19
SWEEPS, ITERATIONS = 300, 3000
MINIMAL = 1e-6  # relative error of the objective after alternation or a descent

ABOUT, MODELS = 1e-4, 0.01  # excess and distance of models that are about the same

NEAR = 16, 17, 18, 19, 20  # ranks that fit any matrix off the diagonal: (20 − 16)² < 20
BELOW = 9  # a rank at which the minimum is a third of a per cent above that of full rank
STARTS = 0.01, 0.1, 0.3  # sizes of the entries of random starts
RIDGES = 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7  # a vanishing ridge: its weights, in turn
NEARER = 0.5  # ratio below which a number is nearer to zero than to what it is divided by
NO_DIAGONAL = 1e-3  # mean size of U_i·V_i after the smallest ridge, at full rank

TWIN_RANK = 6


class Case(NamedTuple):
    """Models of one rank: minimisers of Eq. 10 from several starts, and that of Eq. 11."""

    edlae: list[LowRank]
    constrained: LowRank


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 10 and 11 by rank, of the diagonal, and of the cosines of embeddings."""
    small, data, starts = np.random.default_rng(seed).spawn(3)
    x = fitted(data)
    loss = Quadratic(x.T @ x, noise(x, P))
    cases = {rank: _solved(x, loss, rank, starts) for rank in RANKS}
    return [
        *_equation_10(enumerable(small), small),
        *_approximation(loss, cases),
        _coupled(loss, cases[RANKS[0]]),
        _roles(enumerable(small), small),
        *_corollary(x, loss, starts),
        *_twins(seed),
    ]


def _solved(x: Matrix, loss: Quadratic, rank: int, rng: np.random.Generator) -> Case:
    dlae = low_rank(fit_dropout_l2(training(x), rank, P, 0.0))
    constrained = zero_diagonal(x, rank)
    starts = dlae.decoder, constrained.decoder, rng.normal(size=(len(loss.gram), rank))
    return Case([alternated(loss, start) for start in starts], constrained)


def zero_diagonal(x: Matrix, rank: int) -> LowRank:
    """Minimiser of Eq. 11, by the corrected ADMM until convergence."""
    fits = fit_zero_diagonal(
        training(x), [rank], P, 0.0, solver="admm", iterations=ITERATIONS, tolerance=-1
    )
    ((_, fit),) = fits
    return low_rank(fit)


def alternated(loss: Quadratic, v: Matrix) -> LowRank:
    """Minimiser of Eq. 10, by exact alternating least squares from the decoder `v`."""
    problem = Problem(np.diag(loss.gram), loss.penalty)
    packed = PackedGram(loss.gram.copy())
    packed.invert(loss.penalty)
    best_encoder = ExactEncoder(packed, problem, 1e-10)
    for _ in range(SWEEPS):
        u = best_encoder(v)
        v = problem.best_decoder(u, loss.gram @ u)
    return LowRank(u, v)


def _equation_10(x: Matrix, rng: np.random.Generator) -> list[Check]:
    u, v = rng.normal(size=(2, x.shape[1], 2))
    gram = x.T @ x
    found = Quadratic(gram, noise(x, P)).edlae(u @ v.T)
    trained = Problem(gram.diagonal(), noise(x, P)).objective(u, v, gram @ u)
    masks = Masked(x, P).loss(u @ v.T / (1 - P), 1, 0) / P
    what = "b = 0, random U and V: Eq. 10 over"
    of_training = "b = 0, random U and V: Eq. 10 as training measures it over"
    return [
        equal("equation_10", f"{what} Eq. 6", found / equation_6(x, u @ v.T, P, 1, 0), 1, EXACT),
        equal("equation_10", f"{what} the mean loss of every mask / ap", found / masks, 1, EXACT),
        equal(
            "equation_10",
            f"{of_training} the mean loss of every mask / ap",
            trained / masks,
            1,
            EXACT,
        ),
    ]


def _approximation(loss: Quadratic, cases: dict[int, Case]) -> list[Check]:
    """Checks that the excess cost of Eq. 11 falls with the rank, to almost nothing at last."""
    excess = np.array([_excess(loss, case) for case in cases.values()])
    apart = np.array(
        [
            relative_distance(off(product_of(_best(loss, case))), off(product_of(case.constrained)))
            for case in cases.values()
        ]
    )
    what = "least Eq. 11 over least Eq. 10, less 1"
    beside, near = "distance of the two models off the diagonal", f"rank {RANKS[-1]} of {FEATURES}"
    return [
        at_most("equation_11", f"{what}: largest rise with the rank", np.diff(excess).max(), 0),
        equal("equation_11", f"{what}: {near}", excess[-1], 0, ABOUT),
        at_most("equation_11", f"{beside}: largest rise with the rank", np.diff(apart).max(), 0),
        equal("equation_11", f"{beside}: {near}", apart[-1], 0, MODELS),
    ]


def _coupled(loss: Quadratic, smallest: Case) -> Check:
    """Check of footnote 3: at a small rank the diagonal of UV' is not zero."""
    coupled = np.abs(np.diag(product_of(_best(loss, smallest)))).mean()
    return at_least("footnote_3", f"rank {RANKS[0]}: mean size of diagonal entries", coupled, 0.01)


def _roles(tiny: Matrix, rng: np.random.Generator) -> Check:
    """Check that training with b = 0 leaves the diagonal of UV' out."""
    diagonal = rng.normal(size=tiny.shape[1])
    u, v = rng.normal(size=(2, tiny.shape[1], 2))
    masked, small = Masked(tiny, P), u @ v.T
    moved = masked.loss(small + np.diag(diagonal), 1, 0) / masked.loss(small, 1, 0) - 1
    return equal(
        "section_4_roles",
        "b = 0, random U and V: relative change of the mean loss of every mask by another "
        "diagonal of UV'",
        moved,
        0,
        EXACT,
    )


def trained(loss: Quadratic, start: LowRank, ridges: tuple[float, ...] = (0.0,)) -> LowRank:
    """Minimiser of Eq. 10 by L-BFGS, which knows no update rule.

    `ridges` are the weights of ‖UV'‖²/tr(X'X) beside the loss, one after the other.
    """
    shape, scale = (2, *start.encoder.shape), float(np.trace(loss.gram))
    flat = np.stack((start.encoder, start.decoder)).ravel()

    def value_and_slope(flat: Vector, ridge: float) -> tuple[float, Vector]:
        u, v = flat.reshape(shape)
        b = u @ v.T
        slope = loss.edlae_slope(b) / scale + 2 * ridge * b
        value = loss.edlae(b) / scale + ridge * float(np.sum(b**2))
        return value, np.stack((slope @ v, slope.T @ u)).ravel()

    options = {"maxiter": 5000, "maxfun": 10_000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-11}
    for ridge in ridges:
        flat = minimize(
            value_and_slope, flat, ridge, method="L-BFGS-B", jac=True, options=options
        ).x
    return LowRank(*flat.reshape(shape))


def shifted(b: Matrix, eigenvalue: float) -> LowRank:
    """B − μI at rank m − 1, for an eigenvalue μ of B."""
    left, sizes, right = np.linalg.svd(b - eigenvalue * np.eye(len(b)))
    root = np.sqrt(sizes[:-1])
    return LowRank(left[:, :-1] * root, right[:-1].T * root)


def own_products(model: LowRank) -> float:
    """Mean size of the dot products U_i·V_i, the diagonal entries of UV'."""
    return float(np.abs(np.sum(model.encoder * model.decoder, axis=1)).mean())


def _corollary(x: Matrix, loss: Quadratic, rng: np.random.Generator) -> list[Check]:
    """Checks of the corollary: what training by Eq. 10 makes of the dot products U_i·V_i.

    They are compared with those of denoising without emphasis (DLAE) at the same rank, and with
    zero, which a vanishing ridge reaches at full rank. The least value of Eq. 10 at full rank is
    that of the regressions of each feature on the others.
    """
    full = regressions(x, P)
    least = loss.value(full)
    plain = {
        rank: low_rank(fit_dropout_l2(training(x), rank, P, 0.0)).balanced()
        for rank in (BELOW, *NEAR)
    }
    free = {rank: [trained(loss, start) for start in _random(rank, rng)] for rank in NEAR}
    picked = {
        rank: _smallest(
            trained(loss, start, RIDGES) for start in (plain[rank], *_random(rank, rng)[1:2])
        )
        for rank in (BELOW, *NEAR)
    }

    def above(model: LowRank) -> float:
        return loss.edlae(product_of(model)) / least - 1

    def over_plain(model: LowRank, rank: int) -> float:
        return own_products(model) / own_products(plain[rank])

    random = [above(model) for models in free.values() for model in models]
    ratios = [over_plain(model, rank) for rank, models in free.items() for model in models]
    sizes = [own_products(picked[rank]) for rank in NEAR]
    values = sorted(np.abs(np.linalg.eigvals(full).real))
    ends = [shifted(full, _nearest(full, value)) for value in (values[0], values[-1])]
    last = NEAR[-2]
    claim, above_full = "corollary", "Eq. 10 above its minimum at full rank, relative"
    at = f"ranks {NEAR[0]} to {NEAR[-1]} of {FEATURES},"
    over = "mean size of U_i·V_i over that without emphasis"
    vanishing = f"{at} a vanishing ridge beside the loss: mean size of U_i·V_i"
    minus = f"rank {last} of {FEATURES}, B − μI"
    below = f"rank {BELOW} of {FEATURES}, a vanishing ridge:"
    dlae = trained(loss, plain[last])
    return [
        equal(claim, f"{at} random starts: {above_full}, largest", max(random), 0, MINIMAL),
        at_most(claim, f"{at} random starts: {over}, largest", max(ratios), NEARER),
        at_most(
            claim,
            f"{vanishing}, largest rise with the rank",
            max(after - before for before, after in pairwise(sizes)),
            0,
            form=CHARITABLE,
        ),
        equal(claim, f"{vanishing}, at full rank", sizes[-1], 0, NO_DIAGONAL, CHARITABLE),
        at_most(claim, f"{minus}, two μ: {above_full}", max(map(above, ends)), 0, EXACT, LIMIT),
        at_most(
            claim, f"{minus}, the least |μ|: {over}", over_plain(ends[0], last), NEARER, 0, LIMIT
        ),
        at_least(
            claim, f"{minus}, the largest |μ|: {over}", over_plain(ends[1], last), NEARER, 0, LIMIT
        ),
        at_least(
            claim,
            f"rank {last} of {FEATURES}, no ridge, from the model without emphasis: {over}",
            over_plain(dlae, last),
            NEARER,
            0,
            LIMIT,
        ),
        at_least(claim, f"{below} {above_full}", above(picked[BELOW]), MINIMAL, 0, LIMIT),
        at_least(claim, f"{below} {over}", over_plain(picked[BELOW], BELOW), NEARER, 0, LIMIT),
    ]


def _random(rank: int, rng: np.random.Generator) -> list[LowRank]:
    return [LowRank(*(size * rng.normal(size=(2, FEATURES, rank)))) for size in STARTS]


def _smallest(models: Iterable[LowRank]) -> LowRank:
    """The model with the least ‖UV'‖."""
    return min(models, key=lambda model: float(np.linalg.norm(product_of(model))))


def _nearest(b: Matrix, size: float) -> float:
    """The eigenvalue of B whose size is nearest to the given one."""
    values = np.linalg.eigvals(b).real
    return float(values[np.argmin(np.abs(np.abs(values) - size))])


def unit(rows: Matrix) -> Matrix:
    """Rows scaled to length one."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _best(loss: Quadratic, case: Case) -> LowRank:
    """Minimiser of Eq. 10 from the best of its starts."""
    return min(case.edlae, key=lambda model: loss.edlae(product_of(model)))


def _excess(loss: Quadratic, case: Case) -> float:
    """Relative excess of Eq. 10 at the minimiser of Eq. 11."""
    best = loss.edlae(product_of(_best(loss, case)))
    return loss.value(product_of(case.constrained)) / best - 1


def _twins(seed: int) -> list[Check]:
    """Checks of the embeddings of two identical features under diag(UV') = 0."""
    x = fitted(np.random.default_rng(seed))
    twins = np.column_stack((x[:, 0], x[:, :-1]))
    constrained = zero_diagonal(twins, TWIN_RANK).balanced()
    free = low_rank(fit_dropout_l2(training(twins), TWIN_RANK, P, 0.0)).balanced()
    pairs = {
        "encoder": (constrained.encoder, free.encoder),
        "decoder": (constrained.decoder, free.decoder),
    }
    what = f"rank {TWIN_RANK}, a feature and its copy, balanced U and V: cosine in the"
    return [
        at_most(
            "section_4_1_2_dissimilar",
            f"{what} {part}, Eq. 11 less unconstrained",
            _cosine_of_twins(with_it) - _cosine_of_twins(without),
            0,
        )
        for part, (with_it, without) in pairs.items()
    ]


def _cosine_of_twins(embeddings: Matrix) -> float:
    """Cosine of the embeddings of features 0 and 1, which are identical."""
    first, second = unit(embeddings[:2])
    return float(first @ second)
