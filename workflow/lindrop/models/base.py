"""The data that models are fitted to (`Training`), the fitted models, and what a `Fit` returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.errors import UserError
from lindrop.base.stopwatch import NO_COST, Cost
from lindrop.linalg.gram import gram_matrix, gram_triangle
from lindrop.linalg.interactions import interactions
from lindrop.linalg.kernels import Array, canonical, sparse_times_dense, sparse_times_sparse
from lindrop.linalg.packed import InverseTriangle, PackedGram
from lindrop.linalg.sparse_ranking import best_of_sparse
from lindrop.linalg.spectrum import top_eigenpairs
from lindrop.linalg.triangle import Triangle, sparse_times_triangle
from lindrop.ranking.evaluation import Model
from lindrop.ranking.metrics import CRITERION, DEFAULT

FLOAT32 = np.dtype(np.float32)
ENTRIES = 1 << 18  # of X, squared at once
COUNTED = 1 << 22  # of X, counted at once


@runtime_checkable
class Additive(Protocol):
    """Model whose score of an item is a sum over the items of the user's history."""

    def contributions(self, history: Array, item: int) -> Vector:
        """What each item of a history, given by its column, adds to the score of `item`."""
        ...


def add_own(scores: Matrix, x: sp.csr_array, diagonal: Vector) -> None:
    """Add X dMat(diagonal) to scores: what each item of a user adds to its own score."""
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    np.add.at(scores, (rows, x.indices), x.data * diagonal[x.indices])


@dataclass(frozen=True)
class FullRank:
    """Model with a dense items × items matrix B; the scores of users with rows X are X B."""

    matrix: Matrix

    def scores(self, x: sp.csr_array) -> Matrix:
        """X B, users × items."""
        return sparse_times_dense(x, self.matrix)

    def contributions(self, history: Array, item: int) -> Vector:
        """B_ij for the items i of a history and the item j."""
        parts: Vector = self.matrix[history, item]
        return parts


@dataclass(frozen=True)
class ScaledSymmetric:
    """Full-rank model B = A dMat(scale) + dMat(diagonal) with a symmetric A of zero diagonal.

    `triangle` holds the values of A as in `lindrop.linalg.triangle`, about half of what B needs.
    """

    scale: Vector
    diagonal: Vector
    triangle: Vector
    blocks: ClassVar[int] = 4  # times as many users are scored together, as A is then transposed

    @cached_property
    def _symmetric(self) -> Triangle:
        return Triangle(self.triangle, len(self.scale))

    @property
    def matrix(self) -> Matrix:
        """B, items × items, as a new array."""
        matrix = self._symmetric.square()
        matrix *= self.scale
        np.fill_diagonal(matrix, self.diagonal)
        return matrix

    def scores(self, x: sp.csr_array) -> Matrix:
        """X B, users × items."""
        scores = sparse_times_triangle(x, self._symmetric)
        scores *= self.scale
        if self.diagonal.any():
            add_own(scores, x, self.diagonal)
        return scores

    def contributions(self, history: Array, item: int) -> Vector:
        """B_ij for the items i of a history and the item j."""
        parts: Vector = self._symmetric.at(history, np.array(item)) * self.scale[item]
        return np.where(history == item, self.diagonal[item], parts)


FullRankModel = FullRank | ScaledSymmetric


@dataclass(frozen=True)
class SparseItems:
    """Model with a sparse items × items matrix B, kept as its three CSR arrays; scores are X B."""

    indptr: Array
    indices: Array
    data: Array

    @property
    def matrix(self) -> sp.csr_array:
        """B, items × items."""
        items = len(self.indptr) - 1
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(items, items))

    def scores(self, x: sp.csr_array) -> Matrix:
        """X B, users × items, as a dense array."""
        return sparse_times_sparse(x, (self.indptr, self.indices, self.data))

    def best(
        self,
        x: sp.csr_array,
        k: int,
        allowed: npt.NDArray[np.bool_] | None = None,
        keep_seen: bool = False,
    ) -> tuple[Array, Array]:
        """Numbers and scores of the k best items of each row of X, without all scores."""
        return best_of_sparse(x, (self.indptr, self.indices, self.data), k, allowed, keep_seen)

    def contributions(self, history: Array, item: int) -> Vector:
        """B_ij for the items i of a history and the item j."""
        parts: Vector = self.matrix[history][:, [item]].toarray()[:, 0]
        return parts


@dataclass(frozen=True)
class LowRank:
    """Model with encoder U and decoder V, both items × rank; the scores are X U V'."""

    encoder: Matrix
    decoder: Matrix

    def scores(self, x: sp.csr_array) -> Matrix:
        """X U V', users × items."""
        scores: Matrix = (x.astype(self.encoder.dtype) @ self.encoder) @ self.decoder.T
        return scores

    def contributions(self, history: Array, item: int) -> Vector:
        """U_i · V_j for the items i of a history and the item j."""
        parts: Vector = self.encoder[history] @ self.decoder[item]
        return parts

    def truncated(self, rank: int) -> "LowRank":
        """Model of a smaller rank: the first columns of U and V, which are sorted by importance."""
        first = (np.ascontiguousarray(part[:, :rank]) for part in (self.encoder, self.decoder))
        return LowRank(*first)

    def balanced(self) -> "LowRank":
        """Equivalent model (U V' is unchanged) in which U'U = V'V is diagonal."""
        q_u, r_u = np.linalg.qr(self.encoder.astype(np.float64))
        q_v, r_v = np.linalg.qr(self.decoder.astype(np.float64))
        left, values, right = np.linalg.svd(r_u @ r_v.T)
        root = np.sqrt(values)
        dtype = self.encoder.dtype
        return LowRank((q_u @ left * root).astype(dtype), (q_v @ right.T * root).astype(dtype))


@dataclass(frozen=True)
class Popularity:
    """Model that scores every item by its number of training users, equally for all users."""

    counts: Vector

    def scores(self, x: sp.csr_array) -> Matrix:
        """The counts once for every row of X, users × items."""
        return np.tile(self.counts, (x.shape[0], 1))


@dataclass(frozen=True)
class Fit:
    """A fitted model and the history of its solver, which is empty for a closed form.

    `earlier` is the cost of the earlier processes of a training that this process resumed.
    """

    model: Model
    history: list[Mapping[str, float]] = field(default_factory=list)
    converged: bool = True
    earlier: Cost = NO_COST

    @property
    def precision(self) -> str:
        """Floating-point type of the model's arrays, such as `float32`; empty if it has none."""
        types = (getattr(part, "dtype", np.dtype(int)) for part in vars(self.model).values())
        return next((str(dtype) for dtype in types if dtype.kind == "f"), "")


def bytes_of(model: Any) -> int:
    """Bytes of the arrays that define a model, those in tuples included."""
    values = [getattr(model, each.name) for each in fields(model)]
    arrays = [part for each in values for part in (each if isinstance(each, tuple) else [each])]
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


# Arrays of each class of models by whose products it scores the items that a user does not have.
FACTORS = {
    "FullRank": (("matrix",),),
    "SparseItems": (("data",),),
    "LowRank": (("encoder", "decoder"),),
    "Hybrid": (("encoder", "decoder"), ("data",)),
    "ScaledSymmetric": (("scale", "triangle"),),
    "WeightedFactors": (("item_factors",),),
    "Popularity": (("counts",),),
}


def is_zero(model: Any, items: int) -> bool:
    """Whether a model of several items scores none of them above another, so that all tie."""
    products = FACTORS.get(type(model).__name__, ((),))
    return items > 1 and not any(
        all(getattr(model, name).any() for name in factors) for factors in products
    )


class Validation(NamedTuple):
    """Interactions of the validation users, who decide when a training stops, in two parts."""

    fold_in: sp.csr_array
    held_out: sp.csr_array


@dataclass
class Kept:
    """X'X of interactions, computed when it is first read and kept for further copies."""

    x: sp.csr_array
    dtype: np.dtype[Any]

    @cached_property
    def _counted(self) -> Triangle:
        # rounded products would stay so in the float64 that a solver may ask for later
        return gram_triangle(self.x, self.dtype if are_whole(self.x) else np.float64)

    def matrix(self, dtype: npt.DTypeLike) -> Matrix:
        """A new copy of X'X in this precision."""
        copy = Triangle.empty(self._counted.items, dtype, room=True)
        copy.values[:] = self._counted.values
        return copy.square()

    def triangle(self, dtype: npt.DTypeLike) -> Triangle:
        """A new copy of one triangle of X'X in this precision."""
        return Triangle(self._counted.values.astype(dtype), self._counted.items)


@dataclass(frozen=True)
class Training:
    """Interactions X of the training users (users × items), and what models derive from them.

    `read_gram(dtype)` returns a new copy of X'X at every call, since solvers overwrite it, and
    `read_triangle(dtype)` one of its triangles; `dtype` is the precision that solvers try first.
    """

    x: sp.csr_array
    read_gram: Callable[[npt.DTypeLike], Matrix]
    seed: int = 1
    spectrum: tuple[Vector, Matrix] | None = None  # leading eigenpairs of G, if already computed
    dtype: np.dtype[Any] = FLOAT32
    validation: Validation | None = None  # for models that are trained with early stopping
    checkpoint: Path | None = None  # file from which an interrupted training of them resumes
    metrics: Sequence[str] = DEFAULT  # by which models are judged
    criterion: str = CRITERION  # the one of them by which parameters and epochs are chosen
    read_triangle: Callable[[npt.DTypeLike], Triangle] | None = None  # None: from `read_gram`

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral) or self.seed < 0:
            raise UserError(f"the seed is {self.seed!r}; it must be a whole number, at least 0")

    @classmethod
    def of(
        cls,
        x: sp.csr_array,
        seed: int = 1,
        dtype: npt.DTypeLike = np.float32,
        keep: bool = True,
    ) -> "Training":
        """Training data from the interactions alone: X'X is computed once and kept in memory.

        It is computed when a fit first asks for it: models that need X alone never do. With
        `keep=False` every fit computes X'X anew, which saves a triangle of X'X.
        """
        x, dtype = interactions(x, "the training matrix"), np.dtype(dtype)
        if dtype not in (np.float32, np.float64):
            raise UserError(f"models are fitted in float32 or float64, not in {dtype}")
        if not keep:
            triangle = partial(gram_triangle, x)
            return cls(x, partial(gram_matrix, x), seed, dtype=dtype, read_triangle=triangle)
        kept = Kept(x, dtype)
        return cls(x, kept.matrix, seed, dtype=dtype, read_triangle=kept.triangle)

    @cached_property
    def gram_diagonal(self) -> Vector:
        """diag(X'X): the sum of the squared entries of each item; its users, if entries are 1."""
        x, total = canonical(self.x), np.zeros(self.items)
        for start in range(0, x.nnz, ENTRIES):  # a copy of all entries in float64 would be large
            part = slice(start, start + ENTRIES)
            np.add.at(total, x.indices[part], x.data[part].astype(np.float64) ** 2)
        return total

    @cached_property
    def whole(self) -> bool:
        """Whether float32 holds X'X exactly: its errors are then those of the solvers alone."""
        return are_whole(self.x)

    @cached_property
    def shares(self) -> Vector:
        """Share of the training users that have each item; an item without any counts as of one."""
        return shares_of_users(self.x)

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.x.shape[1])

    @property
    def largest_rank(self) -> int:
        """Upper bound of the rank of X: the smaller of the numbers of users and items."""
        return int(min(self.x.shape))

    def packed(self, dtype: npt.DTypeLike) -> PackedGram:
        """A new copy of X'X in the given precision, ready to be inverted in place."""
        return PackedGram(self.read_gram(dtype))

    def to_invert(self, dtype: npt.DTypeLike) -> InverseTriangle:
        """A new copy of one triangle of X'X in the given precision, to be inverted in place."""
        if self.read_triangle is None:
            return InverseTriangle(Triangle.of(self.read_gram(dtype)), self.x)
        return InverseTriangle(self.read_triangle(dtype), self.x)

    def top_spectrum(self, k: int) -> tuple[Vector, Matrix]:
        """The k largest eigenvalues of G and their eigenvectors (items × k).

        They are taken from `spectrum` if it holds as many, else computed.
        """
        if self.spectrum is not None and len(self.spectrum[0]) >= k:
            values, vectors = self.spectrum
            return values[:k], np.ascontiguousarray(vectors[:, :k])
        gram = self.packed(self.dtype)
        return top_eigenpairs(gram.gram_times, self.items, k, gram.dtype, self.seed)


def are_whole(x: sp.csr_array) -> bool:
    """Whether all entries of X are whole numbers, so that float32 holds X'X exactly."""
    parts = (x.data[start : start + ENTRIES] for start in range(0, x.nnz, ENTRIES))
    return all(bool(np.all(part == np.rint(part))) for part in parts)


def users_of_items(x: sp.csr_array) -> npt.NDArray[np.int64]:
    """Number of users of X that have each item, however often."""
    x = canonical(x)
    users = np.zeros(x.shape[1], np.int64)
    for start in range(0, x.nnz, COUNTED):  # NumPy would copy all indices as 64-bit integers
        users += np.bincount(x.indices[start : start + COUNTED], minlength=x.shape[1])
    return users


def shares_of_users(x: sp.csr_array) -> Vector:
    """Share of the users of X that have each item; an item without any counts as of one."""
    shares: Vector = np.maximum(users_of_items(x), 1) / max(np.count_nonzero(np.diff(x.indptr)), 1)
    return shares


def dropout_penalty(gram_diagonal: Vector, p: float, ridge: float) -> Vector:
    """Diagonal of Λ̃ = Λ + λI with Λ = p/(1-p) diag(X'X) (Steck 2020, Eq. 4)."""
    if not (0.0 <= p < 1.0 and ridge >= 0.0):
        raise UserError(f"p = {p} and λ = {ridge}: p must be from 0 to below 1, λ at least 0")
    return gram_diagonal * (p / (1.0 - p)) + ridge


def dropped(x: sp.csr_array, p: float, rng: np.random.Generator) -> sp.csr_array:
    """X with every entry set to zero with probability p and scaled by 1/(1 - p) otherwise."""
    kept = rng.random(x.nnz, dtype=np.float32) >= p
    z = x.copy()
    z.data *= kept / np.float32(1 - p)
    z.eliminate_zeros()
    return z
