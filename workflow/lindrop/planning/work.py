"""Operations of each kind of job, whose time is this work divided by a measured rate.

A work is a count of multiplications up to a factor that the rates absorb: it says how the time
grows with the data, `rates.csv` how fast it is done. `python benchmarks/plan.py rates` measures the
rates.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import (
    DENSE,
    FILLED,
    KRYLOV,
    SPARSE,
    dual_pays,
    sampled_batch,
    triangle_bytes,
)
from lindrop.planning.sizes import DataSize

Options = Mapping[str, Any]
Work = Callable[[DataSize, Sequence[int], Options], float]

DUAL = "dual"  # name of the rate of full-rank models that are fitted so
PASSES = 12  # products of a Krylov space with X'X until its eigenpairs have converged
EPOCHS = 30  # of sampled dropout until it rests
TURNS = 6  # of U, V and S until the hybrid rests
CUBES = 6  # times `spread`: the most by which it raises the mean cube of numbers of neighbours
PRODUCTS = 14  # of X'X and a matrix of its factors in a turn
BATCHES = 29  # of an epoch of Table 1's rows 1 and 4 as published
TRIED = 6, 14  # points at which a row of Table 1 is fitted, by a search of λ, and of p and λ
PUBLISHED_EPOCHS = {1: 5, 2: 5, 3: 5, 4: 10, 5: 20}  # the most of each row


def inverse(size: DataSize) -> float:
    """One inverse of items × items, and the passes over the matrix beside it."""
    return float(size.items) ** 3 + 60.0 * size.items**2


def is_dual(size: DataSize) -> bool:
    """Whether full-rank models are fitted by an inverse of users × users."""
    return dual_pays(size.train_users, size.items, size.entries)


def spectrum(size: DataSize, rank: int) -> float:
    """The `rank` largest eigenpairs of an items × items matrix."""
    items = float(size.items)
    if items <= DENSE or 3 * rank >= items:
        return 8 * items**3
    return 2 * PASSES * items**2 * (rank + KRYLOV)


def iterations(rank: int, options: Options, constrained: bool) -> float:
    """Iterations of the descent until it rests (benchmarks/results/edlae_solvers.csv)."""
    usual = 16.0 if constrained else min(10.0, 3 + 0.05 * rank)
    return min(usual, float(options.get("iterations", 100)))


def descent(constrained: bool) -> Work:
    """Work of the low-rank solvers of Eq. 10 and of Eq. 11 (`constrained`)."""

    def work(size: DataSize, ranks: Sequence[int], options: Options) -> float:
        steps = sum(
            iterations(rank, options, constrained)
            * (6.0 * size.items**2 * rank + 9.0 * size.items * rank**2)
            for rank in ranks
        )
        return inverse(size) + steps

    return work


def closed_form(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """A closed form from a spectrum that is there already."""
    return 1e5 + float(size.items) * max(ranks)


def dropout_l2(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """An inverse, and a spectrum computed from it."""
    return inverse(size) + spectrum(size, max(ranks))


def full_rank(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """One inverse of items × items, or one of users × users and products with X."""
    if not is_dual(size):
        return inverse(size)
    users = float(size.train_users)
    products = float(size.entries) * (size.items + 2 * users)
    return 2 * users**3 + SPARSE * products + 60.0 * size.items**2


def popularity(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Counting the interactions."""
    return float(size.entries)


def sampled(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Passes over the users, each with a system of rank × rank per item and batch."""
    rank = float(max(ranks))
    users = max(size.train_users, 1)
    batches = users / sampled_batch(users, size.items)
    epochs = float(min(EPOCHS, options.get("epochs", EPOCHS)))
    return epochs * (6 * size.entries * rank + 4 * batches * size.items * rank**2)


def slim(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Coordinate descent on the columns, whose gradients are checked with all of X'X."""
    return 20.0 * float(size.items) ** 2


def wmf(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Sweeps of three conjugate gradient steps for every user and item."""
    factors, sweeps = _largest(options, "factors", 32), _largest(options, "sweeps", 5)
    per_sweep = 4 * size.entries * factors + (size.train_users + size.items) * factors**2
    return sweeps * 4 * per_sweep


def pattern(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Choosing neighbours from pairs of items, and one small system per item."""
    k = min(_largest(options, "neighbours", 100), max(size.items - 1, 1))
    cubes = 1 + CUBES * float(options.get("spread", 0))
    return 2 * size.pairs + size.items * (cubes * k**3 / 3 + 40 * k**2)


def hybrid(size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Turns, each with all columns on the pattern, products with X, and a system per row of V."""
    factors = _largest(options, "factors", 50)
    turns = min(TURNS, _largest(options, "iterations", TURNS))
    products = 4 * PRODUCTS * size.entries * factors
    return turns * (pattern(size, ranks, options) + products + size.items * factors**3)


def _largest(options: Options, name: str, default: float) -> float:
    value = options.get(name, default)
    return float(max(value)) if isinstance(value, Sequence) else float(value)


def rate_name(model: str, size: DataSize) -> str:
    """Name of the rate at which a model is fitted: its own, or that of users × users."""
    return DUAL if CATALOGUE[model].full_rank and is_dual(size) else model


FITS: Mapping[str, Work] = {
    "popularity": popularity,
    "weight_decay": closed_form,
    "product_l2": closed_form,
    "dropout_l2": dropout_l2,
    "sampled_dropout": sampled,
    "edlae": descent(False),
    "slim": slim,
    "wmf": wmf,
    "zero_diagonal_l2": descent(True),
    "zero_diagonal": descent(True),
    "full_l2": full_rank,
    "full_dlae": full_rank,
    "ease": full_rank,
    "full_edlae": full_rank,
    "sparse_edlae": pattern,
    "sparse_ease": pattern,
    "hybrid_edlae": hybrid,
}


def trained(size: DataSize, rank: int, row: int, epochs: float) -> float:
    """A training of a row of Table 1 of Steck 2020 by the published procedure.

    Rows 1 and 4 descend in batches; the others have an inverse and a few products with X'X, which
    they compute in float64.
    """
    if row in (1, 4):
        own = 8.0 * size.entries * rank + BATCHES * size.items * rank * (10.0 * rank + 60)
        return epochs * own
    return 2 * (inverse(size) + epochs * 4.0 * size.items**2 * rank)


def attribution(size: DataSize, rank: int, papers_own: bool) -> float:
    """Rows 1 to 5 on one split, as published and exact, each at all points of its search."""
    exact = {3: dropout_l2, 5: descent(False)}  # row 4 has the optimum of row 3
    total = 0.0
    for row, epochs in PUBLISHED_EPOCHS.items():
        tried = TRIED[row > 2]
        total += (1 if papers_own else tried) * trained(size, rank, row, epochs)
        if row in exact:
            total += tried * exact[row](size, [rank], {})
    return total


def longer(size: DataSize, rank: int, row: int, starts: int, times: int) -> float:
    """A row trained from other random starts, and for `times` the published number of epochs."""
    return trained(size, rank, row, (starts + times) * PUBLISHED_EPOCHS[row])


def model_bytes(model: str, size: DataSize, rank: int, options: Options) -> float:
    """Bytes of a model's file: a triangle, two factors, or as many weights as are not zero."""
    entry, items = CATALOGUE[model], float(size.items)
    if entry.full_rank:
        return triangle_bytes(size.items)
    if entry.low_rank:
        return 8 * items * rank
    weights = {"slim": FILLED * items**2, "popularity": items}
    weights["wmf"] = items * _largest(options, "factors", 32) / 2
    weights |= dict.fromkeys(
        ("sparse_edlae", "sparse_ease"), items * min(_largest(options, "neighbours", 100), items)
    )
    both = min(_largest(options, "neighbours", 50), items) + _largest(options, "factors", 50)
    weights["hybrid_edlae"] = items * both
    return 8 * weights[model]


def gram(size: DataSize) -> float:
    """Counting X'X: every pair of items of every user, and the matrix itself."""
    return size.pairs + 10.0 * size.items**2


def evaluation(model: str, size: DataSize, ranks: Sequence[int], options: Options) -> float:
    """Scoring and ranking the items for every evaluated user, once for each rank.

    A model with few weights per item lists the best items without the scores of all.
    """
    users, items = float(size.tested), float(size.items)
    if CATALOGUE[model].low_rank:
        return sum(users * items * (12 + 0.5 * rank) for rank in ranks)
    if CATALOGUE[model].full_rank:
        return users * items * (12 + size.per_user)
    if model == "wmf":
        factors = _largest(options, "factors", 32)
        return users * (items * (12 + 0.5 * factors) + size.per_user * factors**2)
    if model == "hybrid_edlae":
        return users * items * (12 + 0.5 * _largest(options, "factors", 50))
    if model == "popularity":
        return users * items * 12
    listed = size.per_user * min(_largest(options, "neighbours", 100), items)
    return users * (12 * min(items, 4 * listed) + 8 * listed)
