"""Estimates of the peak memory of fits, which the jobs request and a fit checks before it starts.

Everything is counted in float32 and from the arrays that the code allocates. This module imports
neither compiled code nor PyTorch, because the workflow's rules call it.
`python benchmarks/memory.py` compares every estimate with the measured peak.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lindrop.models.baseline import DEEP, baseline_bytes
from lindrop.models.torch.memory import training_bytes

if TYPE_CHECKING:
    from lindrop.models.base import Training

FLOAT = 4  # bytes of a float32, and of an index of an interaction
MARGIN = 1.05  # for what the allocator keeps of freed arrays
RETURNED = 32 << 20  # bytes from which on glibc returns a freed array to the system
BLOCK_BYTES = 128 << 20  # twice the largest block of scores (lindrop.ranking.evaluation)
DEPTH = 100  # ranks that the metrics look at
BLOCKS = 4  # of these that are scored together if B is a triangle (lindrop.models.base)
PANEL = 960  # rows of a triangle that are kept together (lindrop.linalg.triangle)
PIVOTS = 320  # columns of the buffer of an inversion (lindrop.linalg.inverse)
DENSE = 2000  # items up to which a spectrum is that of the whole matrix (lindrop.linalg.spectrum)
KRYLOV = 128  # vectors that a Krylov step adds
SPARSE = 16  # multiplications of a dense product in the time of one of a sparse product
PART = 1 << 26  # weights of the columns of B that are solved together (pattern.solver)
BLOCK = 64  # columns that a thread solves one after the other
SHARED = 1 << 22  # most words of bits that columns share (lindrop.models.pattern.columns)
DECODED = 1024  # items whose rows of V are computed at once (lindrop.models.pattern.hybrid)
LONGEST = 4  # largest number of neighbours, in multiples of their mean (pattern.solver)
BANDS = 4  # in which these are freed (lindrop.models.pattern.rows)
FILLED = 0.02  # share of the entries of SLIM's matrix that are not zero


@dataclass(frozen=True)
class Size:
    """Counts of the data of a fit, on which its memory depends.

    `users` and `entries` are the rows and the nonzero entries of X, `eigenpairs` are those of X'X
    that are stored, and `tested` is the number of users whose rankings are evaluated.
    """

    users: int
    items: int
    entries: int
    eigenpairs: int = 0
    tested: int = 0

    @classmethod
    def of(cls, data: "Training", tested: int = 0) -> "Size":
        """Size of training data that are in memory."""
        users, items = data.x.shape
        eigenpairs = 0 if data.spectrum is None else len(data.spectrum[0])
        return cls(int(users), int(items), int(data.x.nnz), eigenpairs, tested)

    @property
    def per_user(self) -> float:
        """Mean number of entries of a user."""
        return self.entries / max(self.users, 1)


Options = Mapping[str, Any]
Work = Callable[[Size, Sequence[int], Options], float]


def interactions_bytes(size: Size) -> float:
    """Bytes of X, of the evaluated users' interactions and of the stored eigenvectors."""
    entries = size.entries + 1.2 * size.tested * size.per_user
    rows = size.users + 2 * size.tested
    return FLOAT * (2 * entries + 2 * rows + size.items * size.eigenpairs)


def job_bytes(size: Size, needed: float, deep: bool = False) -> float:
    """Peak bytes of the process of a job: Python with its libraries, the data, and `needed` bytes.

    More is needed to read the data if `needed` is less than that.
    """
    work = max(needed, MARGIN * reading_bytes(size))
    return baseline_bytes(*(DEEP if deep else ())) + MARGIN * interactions_bytes(size) + work


def reading_bytes(size: Size) -> float:
    """Bytes beside `interactions_bytes` while X is read: its entries as they are in the file."""
    return 2.0 * size.entries


def gram_bytes(size: Size) -> float:
    """Peak bytes of counting X'X: a triangle, and the index arrays of X'."""
    return triangle_bytes(size.items) + FLOAT * 2.0 * size.entries


def evaluation_bytes(size: Size, rank: int = 0, itemsize: int = FLOAT, blocks: int = 1) -> float:
    """Peak bytes of evaluating a model: `blocks` blocks of scores, and what is made of them."""
    users = min(size.tested, blocks * max(1, BLOCK_BYTES // (8 * max(size.items, 1))))
    per_user = itemsize * size.items + 2 * FLOAT * rank + 24 * size.per_user + 24 * DEPTH
    return users * per_user + 48.0 * size.tested


def lists_bytes(size: Size) -> float:
    """Peak bytes of evaluating a sparse B, which ranks without a block of scores.

    Each user has a list of items and scores, and the gains of its items with one temporary; every
    thread has a row of scores, of who had them, and of those to look at.
    """
    users = min(size.tested, BLOCK_BYTES // (8 * max(min(2 * DEPTH, size.items), 1)))
    per_user = 24 * DEPTH + 12 * size.per_user
    threads = (os.cpu_count() or 1) * 3.0 * FLOAT * size.items
    return users * per_user + 144.0 * size.tested + threads


def inverse_bytes(items: int) -> float:
    """Peak bytes of an inversion beside the matrix: a buffer, blocks, the vectors of the error."""
    return FLOAT * (items * (min(PIVOTS, items) + 60.0) + 2 * min(PANEL, items) ** 2)


def spectrum_bytes(items: int, rank: int) -> float:
    """Peak bytes beside the matrix while its `rank` largest eigenpairs are computed."""
    if items <= DENSE or 3 * rank >= items:
        return FLOAT * items * (8.0 * items + rank)
    keep = rank + KRYLOV
    rows = keep + max(keep, 8 * KRYLOV)  # of the Krylov space, and of its image
    steps = FLOAT * items * max(keep, 2 * rank, 6 * KRYLOV)
    return FLOAT * items * 2.0 * rows + max(steps, 36.0 * rows**2)


def matrix_bytes(items: int, matrices: int = 1) -> float:
    """Bytes of items × items matrices."""
    return FLOAT * matrices * float(items) ** 2


def triangle_bytes(items: int) -> float:
    """Bytes of one triangle of an items × items matrix, in panels (lindrop.linalg.triangle)."""
    return FLOAT * float(items) * (items + min(PANEL, items)) / 2


def columns_bytes(items: int, columns: float) -> float:
    """Bytes of columns with an entry per item."""
    return FLOAT * items * columns


def kept_bytes(items: int, rank: int, evaluation: float) -> float:
    """Bytes of an evaluation that add to those of the fit before it.

    The allocator of the C library keeps the memory of freed arrays below 32 MB for arrays of their
    size, so a block of scores is new memory; larger arrays are returned to the system.
    """
    return evaluation if columns_bytes(items, rank) < RETURNED else 0.0


def full_rank(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of a full-rank model: a triangle of X'X, and the buffers of the inversion."""
    dual = dual_pays(size.users, size.items, size.entries)
    fitting = dual_bytes(size) if dual else inverse_bytes(size.items)
    evaluation = evaluation_bytes(size, blocks=BLOCKS)
    return triangle_bytes(size.items) + max(fitting, evaluation)


def dual_pays(users: int, items: int, entries: int) -> bool:
    """Whether an inverse of users × users in float64 is cheaper than one of items × items.

    It is followed by products with X, whose multiplications take several times longer each.
    """
    operations = 2.0 * users**3 + SPARSE * float(entries) * (items + 2 * users)
    return 2 * users <= items and operations < float(items) ** 3


def dual_columns(items: int) -> int:
    """Columns of C that are made at a time from an inverse of users × users."""
    return max(64, min(1024, items // 16))


def dual_bytes(size: Size) -> float:
    """Peak bytes beside B of the inverse of users × users: K, X thrice, and a block of columns."""
    users, block = float(size.users), dual_columns(size.items)
    inner = 8 * (users * (users + min(PIVOTS, users)) + 2 * min(PANEL, users) ** 2)
    return inner + 40.0 * size.entries + block * (20 * users + FLOAT * size.items)


def popularity(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of the popularity model, whose scores are float64."""
    return evaluation_bytes(size, itemsize=8)


def closed_form(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of a closed form that needs the spectrum of X'X alone."""
    rank = max(ranks)
    copied = rank if size.eigenpairs > rank else 0
    model = columns_bytes(size.items, _factors(ranks) + copied) + evaluation_bytes(size, rank)
    if size.eigenpairs >= rank:
        return model
    return max(model, matrix_bytes(size.items) + spectrum_bytes(size.items, rank))


def dropout_l2(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of the closed form of dropout: an inverse, and a spectrum computed from it."""
    rank = max(ranks)
    model = columns_bytes(size.items, _factors(ranks)) + evaluation_bytes(size, rank)
    return max(regularised_bytes(size.items, rank), model)


def _factors(ranks: Sequence[int]) -> float:
    """Columns of U and V of the models of all ranks."""
    return 2.0 * sum(ranks)


def regularised_bytes(items: int, rank: int) -> float:
    """Peak bytes of an inverse and of a spectrum computed from it."""
    return matrix_bytes(items) + max(inverse_bytes(items), spectrum_bytes(items, rank))


def admm(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of the low-rank solvers of Eq. 10 and 11."""
    first = 0.0
    if size.eigenpairs < max(ranks):
        first = matrix_bytes(size.items) + spectrum_bytes(size.items, max(ranks))
    solver = {"als": als_bytes, "admm": admm_bytes}.get(options.get("solver", ""), descent_bytes)
    evaluation = evaluation_bytes(size, max(ranks))
    fitted = solver(size.items, ranks) + kept_bytes(size.items, max(ranks), evaluation)
    model = matrix_bytes(size.items) + columns_bytes(size.items, _iterates(ranks, 6))
    return max(first, fitted, model + evaluation)


def admm_bytes(items: int, ranks: Sequence[int]) -> float:
    """Peak bytes of an inverse and of ADMM's iterations."""
    work = columns_bytes(items, _iterates(ranks, 14))
    beside = max(inverse_bytes(items), work)
    return matrix_bytes(items) + columns_bytes(items, max(ranks)) + beside


def descent_bytes(items: int, ranks: Sequence[int]) -> float:
    """Peak bytes of an inverse and of the iterations of the quasi-Newton descent."""
    work = columns_bytes(items, _iterates(ranks, 18))
    beside = max(inverse_bytes(items), work)
    return matrix_bytes(items) + columns_bytes(items, max(ranks)) + beside


def als_bytes(items: int, ranks: Sequence[int]) -> float:
    """Peak bytes of an inverse, a spectrum and the iterations of alternating least squares."""
    iterations = matrix_bytes(items, 2) + columns_bytes(items, _iterates(ranks, 12))
    return max(regularised_bytes(items, max(ranks)), iterations)


def _iterates(ranks: Sequence[int], arrays: int) -> float:
    """Columns of the arrays of the largest rank's solver, and of the models of the smaller ones."""
    *smaller, rank = sorted(ranks)
    return arrays * rank + _factors(smaller) + 2.0 * max(smaller, default=0)


def sampled_batch(users: int, items: int) -> int:
    """Number of users in each step of sampled dropout; the batches are of equal size.

    A step also costs items × rank², which few users do not repay; many take memory.
    """
    most = max(1024, min(16384, 10 * items))
    return -(-users // -(-users // most))


def sampled(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of sampled dropout: U, V, their means, the preconditioner, a step and a batch.

    Beside the largest rank's, U and V of the one before are still there.
    """
    *smaller, rank = sorted(ranks)
    beside = columns_bytes(size.items, 2.0 * max(smaller, default=0))
    evaluation = evaluation_bytes(size, rank)
    training = sampled_bytes(size, rank, options) + kept_bytes(size.items, rank, evaluation)
    return max(training, columns_bytes(size.items, 2 * rank) + evaluation) + beside


def sampled_bytes(size: Size, rank: int, options: Options) -> float:
    """Peak bytes of training at one rank: of the preconditioner, of a step, or of the objective."""
    columns, hidden = columns_bytes(size.items, rank), 4.0 * size.users * rank
    batch = sampled_batch(size.users, size.items) if size.users else 0
    share = batch / max(size.users, 1)
    rows, entries = share * hidden, 8.0 * share * size.entries  # of a batch
    given = options.get("p", 0.0)
    least = float(min(given) if isinstance(given, Sequence) else given)
    kept = 1.0 - least  # share of the entries under a mask
    masked = entries * (kept if kept < 0.5 else 1.0)  # SciPy then copies what is kept
    decoder = 7 * columns + rows + entries + masked  # X' and Z beside what the gradient of V needs
    encoder = 6 * columns + 3 * rows + kept * entries + masked
    moved = 10 * columns + rows + masked
    step = max(decoder, encoder, moved) + (entries if batch < size.users else 0.0)
    first = 8.0 * size.entries + max(7 * columns, 8.0 * size.entries)
    objective = 5 * columns + 2 * hidden + max(columns, 8.0 * size.entries)
    return max(step, first, objective) + 28.0 * rank**2 + 8.0 * size.users


def slim(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of SLIM: X'X and B, of whose entries a share `FILLED` is taken to be nonzero."""
    entries = FILLED * float(size.items) ** 2
    solving = matrix_bytes(size.items) + 8 * entries
    sorting = 3 * 8 * entries
    return max(solving, sorting, 8 * entries + evaluation_bytes(size))


def pattern(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of EDLAE on a pattern: X' with the columns of B, then B in rows and rankings."""
    return max(pattern_columns(size, size.items, options), pattern_joined(size, ranks, options))


def pattern_columns(size: Size, columns: int, options: Options) -> float:
    """Peak bytes of solving columns of B: X', a sample of X, what is solved, and one part more.

    Every thread has a number for each item and user, and a system of as many unknowns as an item
    has neighbours.
    """
    k = most_neighbours(size, options)
    weights = 2.0 * FLOAT * min(k * columns, _neighbours(size, options) * size.items)
    part = min(weights, 2 * FLOAT * (PART + k)) or 1.0
    shared = min(SHARED, (BLOCK * (k + 1) + 1) * (size.users / 64 + 9))
    each = 16.0 * size.items + 8.0 * size.users + 24.0 * k * (k + 16) + 8.0 * shared
    threads = (os.cpu_count() or 1) * each
    vectors = 64.0 * size.items + 8.0 * size.users + weights / part * FLOAT * size.items
    # X and X' are there before any column is: X once more while users' items are sampled
    solved = max(weights + part, 5.0 * size.entries)
    return 8.0 * size.entries + vectors + threads + solved


def pattern_joined(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of joining the parts of B, each of which is freed in bands, or of ranking."""
    weights = 2.0 * columns_bytes(size.items, _neighbours(size, options))
    vectors = 64.0 * size.items + 8.0 * size.users
    return weights + vectors + max(weights / BANDS, lists_bytes(size))


def hybrid(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of EDLAE with low rank and a pattern: X in float64, S, and factors of all items.

    Some dozen matrices of the size of U are there at once, S once more in float64, and the systems
    of a part of V.
    """
    given = options.get("factors", 1)
    factors = float(max(given) if isinstance(given, Sequence) else given)
    vectors = 8.0 * factors * (12 * size.items + 2 * size.users)
    systems = 32.0 * min(size.items, DECODED) * factors**2
    weights = 8.0 * size.items * _neighbours(size, options)
    fitting = pattern(size, ranks, options) + weights + 12.0 * size.entries + vectors + systems
    return fitting + evaluation_bytes(size)


def _neighbours(size: Size, options: Options) -> float:
    """The largest configured number of neighbours of an item, of which there are not more."""
    given = options.get("neighbours", 1)
    most = max(given) if isinstance(given, Sequence) else given
    return float(min(most, max(size.items - 1, 1)))


def most_neighbours(size: Size, options: Options) -> float:
    """The largest number of neighbours of an item; with `spread`, it is above their mean."""
    k = _neighbours(size, options)
    return min(LONGEST * k, max(size.items - 1.0, 1.0)) if options.get("spread", 0) else k


def wmf(size: Size, ranks: Sequence[int], options: Options) -> float:
    """Peak bytes of WMF: the weights of X by user and by item, and the factors of both."""
    given = options.get("factors", 0)
    factors = float(max(given) if isinstance(given, Sequence) else given)
    weights = FLOAT * (4.0 * size.entries + 2 * (size.users + size.items))
    vectors = FLOAT * factors * (2 * size.users + size.items)
    return max(weights + vectors, 3.0 * FLOAT * factors * size.items + evaluation_bytes(size))


def network(model: str) -> Work:
    """Function that returns the peak bytes of the training of a deep network."""

    def needed(size: Size, ranks: Sequence[int], options: Options) -> float:
        sizes = (int(options.get(key, 0)) for key in ("batch", "latent", "hidden"))
        training = training_bytes(model, size.items, size.users, *sizes)
        return training + evaluation_bytes(size)

    return needed
