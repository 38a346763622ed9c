"""Steck 2020, Section 4.1.2: low-rank EDLAE (Eq. 10), its approximation Eq. 11, the corollary.

The corollary has two halves. Eq. 11 makes the embeddings U_i and V_i orthogonal by its constraint.
Eq. 10, which is training with full emphasis itself, does not: with B the full-rank EDLAE (Eq. 8)
and μ one of its m eigenvalues, all of them real, B − μI is of rank m − 1 and equals B off the
diagonal, and so is a global minimum of Eq. 10 at that rank; every entry of its diagonal is −μ.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    COUNTEREXAMPLE,
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
RANKS = 3, 6, 12, 17  # with 20 features, rank 17 fits any matrix off the diagonal: (20 − 17)² < 20
SWEEPS, ITERATIONS = 300, 3000
CLOSE = 1e-3  # relative excess of Eq. 10 at which Eq. 11 approximates it well
SMALL = 0.1  # relative distance of models that are about the same
MINIMAL = 1e-6  # relative error of the objective after alternation
SETS = 3  # generated X on which the minima of the largest ranks are compared
# generous limits of "approximately orthogonal" (60 degrees) and of a diagonal that is about zero,
# and the least cosine and diagonal entry of a counterexample
STEEP, NEARLY_NONE, PARALLEL, LARGE = 0.5, 0.1, 0.95, 0.25

TWIN_RANK = 6
LESS = 0.1  # least fall of a cosine under diag(UV') = 0


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
        _corollary(cases),
        *_undetermined(loss, cases[RANKS[-1]], data),
        *_twins(seed),
    ]


def _solved(x: Matrix, loss: Quadratic, rank: int, rng: np.random.Generator) -> Case:
    dlae = low_rank(fit_dropout_l2(training(x), rank, P, 0.0))
    constrained = zero_diagonal(x, rank)
    starts = dlae.decoder, constrained.decoder, rng.normal(size=(len(loss.gram), rank))
    return Case([alternated(loss, start) for start in starts], constrained)


def zero_diagonal(x: Matrix, rank: int) -> LowRank:
    """Minimiser of Eq. 11, by the corrected ADMM until convergence."""
    fits = fit_zero_diagonal(training(x), [rank], P, 0.0, iterations=ITERATIONS, tolerance=-1)
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
    found = Quadratic(x.T @ x, noise(x, P)).edlae(u @ v.T)
    masks = Masked(x, P).loss(u @ v.T / (1 - P), 1, 0) / P
    what = "b = 0, random U and V: Eq. 10 over"
    return [
        equal("equation_10", f"{what} Eq. 6", found / equation_6(x, u @ v.T, P, 1, 0), 1, EXACT),
        equal("equation_10", f"{what} the mean loss of every mask / ap", found / masks, 1, EXACT),
    ]


def _approximation(loss: Quadratic, cases: dict[int, Case]) -> list[Check]:
    """Checks that the excess cost of Eq. 11 falls with the rank.

    At the largest rank, the minimisers of Eq. 10 and 11 agree off the diagonal.
    """
    excess = np.array([_excess(loss, case) for case in cases.values()])
    last = cases[RANKS[-1]]
    best = off(product_of(_best(loss, last)))
    distance = relative_distance(product_of(last.constrained), best)
    beside = "distance of the models off the diagonal"
    rank = f"rank {RANKS[-1]} of {FEATURES}"
    what = "least Eq. 11 over least Eq. 10, less 1"
    return [
        at_most("equation_11", f"{what}: largest rise with the rank", np.diff(excess).max(), 0),
        equal("equation_11", f"{what}: at {rank}", excess[-1], 0, CLOSE),
        equal("equation_11", f"{beside}, {rank}", distance, 0, SMALL),
    ]


def _coupled(loss: Quadratic, smallest: Case) -> Check:
    """Check of footnote 3: at a small rank the diagonal of UV' is not zero."""
    coupled = np.abs(np.diag(product_of(_best(loss, smallest)))).mean()
    return at_least("footnote_3", f"rank {RANKS[0]}: mean size of diagonal entries", coupled, 0.01)


def _corollary(cases: dict[int, Case]) -> Check:
    """Check of the corollary for Eq. 11: its minimiser has orthogonal embeddings at any rank."""
    largest = max(np.abs(own_cosines(case.constrained)).max() for case in cases.values())
    what = (
        f"ranks {', '.join(map(str, RANKS))} of {FEATURES}, Eq. 11: largest cosine of U_i and V_i"
    )
    return equal("corollary", what, largest, 0, EXACT)


class Diagonal(NamedTuple):
    """A model of Eq. 10: its value over the least at full rank, and sizes of what is at issue."""

    excess: float
    cosine: float  # mean size of the cosines of U_i and V_i
    entry: float  # mean size of diagonal entries

    @classmethod
    def of(cls, loss: Quadratic, model: LowRank, least: float) -> "Diagonal":
        """Sizes of a model, with `least` the value of Eq. 7."""
        b = product_of(model)
        return cls(
            loss.edlae(b) / least - 1,
            float(np.abs(own_cosines(model)).mean()),
            float(np.abs(np.diag(b)).mean()),
        )


def shifted_minimum(b: Matrix) -> LowRank:
    """B − μI at rank m − 1, for the eigenvalue μ of B that is largest in size."""
    values = np.linalg.eigvals(b).real
    shifted = b - values[np.argmax(np.abs(values))] * np.eye(len(b))
    left, sizes, right = np.linalg.svd(shifted)
    root = np.sqrt(sizes[:-1])
    return LowRank(left[:, :-1] * root, right[:-1].T * root)


def _undetermined(loss: Quadratic, last: Case, rng: np.random.Generator) -> list[Check]:
    """Checks that large ranks do not make the diagonal of Eq. 10's minimisers small.

    The least value of Eq. 10 at full rank is that of the regressions of each feature on the others,
    which no solver of Eq. 10 has part in.
    """
    found = []
    for x in (fitted(rng) for _ in range(SETS)):
        other, full = Quadratic(x.T @ x, noise(x, P)), regressions(x, P)
        found.append(Diagonal.of(other, shifted_minimum(full), other.value(full)))
    least = loss.edlae(product_of(last.constrained))
    least = min(least, *(loss.edlae(product_of(model)) for model in last.edlae))
    free = Diagonal.of(loss, last.edlae[0], least)
    at = f"rank {FEATURES - 1} of {FEATURES}, B − μI:"
    trained = f"rank {RANKS[-1]} of {FEATURES}, training from DLAE:"
    excess = "Eq. 10 above its least value at full rank, relative"
    cosine, entry = "mean size of the cosines of U_i and V_i", "mean size of diagonal entries"
    largest = max(np.abs([case.excess for case in found]))
    cosines, entries = [case.cosine for case in found], [case.entry for case in found]
    claim = "corollary_full_emphasis"
    checks = [
        equal(claim, f"{at} {excess}", largest, 0, EXACT, COUNTEREXAMPLE),
        equal(
            claim,
            f"{trained} Eq. 10 above the least of all starts, relative",
            free.excess,
            0,
            MINIMAL,
            COUNTEREXAMPLE,
        ),
    ]
    for name, sizes, of_training, limit, bound in (
        (cosine, cosines, free.cosine, STEEP, PARALLEL),
        (entry, entries, free.entry, NEARLY_NONE, LARGE),
    ):
        least = min(sizes)
        checks += [
            at_most(claim, f"{at} {name}, least of {SETS} sets", least, limit),
            at_most(claim, f"{trained} {name}", of_training, limit),
            at_least(claim, f"{at} {name}, least of {SETS} sets", least, bound, 0, COUNTEREXAMPLE),
            at_least(claim, f"{trained} {name}", of_training, bound, 0, COUNTEREXAMPLE),
        ]
    return checks


def own_cosines(model: LowRank) -> Vector:
    """Cosine of U_i and V_i for every item, in the balanced gauge."""
    even = model.balanced()
    return np.asarray(np.sum(unit(even.encoder) * unit(even.decoder), axis=1))


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
    what = f"rank {TWIN_RANK}, a feature and its copy: cosine in the"
    return [
        _bound(unit(constrained.encoder), unit(constrained.decoder)),
        *(
            at_most(
                "section_4_1_2_dissimilar",
                f"{what} {part}, Eq. 11 less unconstrained",
                _cosine_of_twins(with_it) - _cosine_of_twins(without),
                -LESS,
            )
            for part, (with_it, without) in pairs.items()
        ),
    ]


def _bound(u: Matrix, v: Matrix) -> Check:
    """Check that cosines of embeddings respect the bound that U_j ⟂ V_j implies.

    cos(U_i, U_j) is at most √(1 − cos²(U_i, V_j)); the bound of cos(V_i, V_j) follows by symmetry.
    """
    room = np.sqrt(1 - np.minimum((u @ v.T) ** 2, 1))
    beyond = max(off(u @ u.T - room).max(), off(v @ v.T - room.T).max())
    what = "excess of the cosines of two features over what orthogonality leaves"
    return at_most("section_4_1_2_dissimilar", what, beyond, 0, EXACT)


def _cosine_of_twins(embeddings: Matrix) -> float:
    """Cosine of the embeddings of features 0 and 1, which are identical."""
    first, second = unit(embeddings[:2])
    return float(first @ second)
