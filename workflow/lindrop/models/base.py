"""What every model is given and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.cost import NO_COST, Cost
from lindrop.base.errors import UserError
from lindrop.linalg.gram import gram_matrix
from lindrop.linalg.kernels import Array, canonical, sparse_times_dense, sparse_times_sparse
from lindrop.linalg.packed import PackedGram
from lindrop.linalg.spectrum import top_eigenpairs
from lindrop.ranking.evaluation import Model

FLOAT32 = np.dtype(np.float32)


@dataclass(frozen=True)
class FullRank:
    """Scores X B with a dense item-item matrix B."""

    matrix: Matrix

    def scores(self, x: sp.csr_array) -> Matrix:
        return sparse_times_dense(x, self.matrix)


@dataclass(frozen=True)
class SparseItems:
    """Scores X B with a sparse item-item matrix B, as the three arrays of its CSR form."""

    indptr: Array
    indices: Array
    data: Array

    @property
    def matrix(self) -> sp.csr_array:
        items = len(self.indptr) - 1
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(items, items))

    def scores(self, x: sp.csr_array) -> Matrix:
        return sparse_times_sparse(x, (self.indptr, self.indices, self.data))


@dataclass(frozen=True)
class LowRank:
    """Scores X U V' with encoder U and decoder V, both items × rank."""

    encoder: Matrix
    decoder: Matrix

    def scores(self, x: sp.csr_array) -> Matrix:
        scores: Matrix = (x.astype(self.encoder.dtype) @ self.encoder) @ self.decoder.T
        return scores

    def truncated(self, rank: int) -> "LowRank":
        """Its first columns: the model of a smaller rank, where columns come by importance."""
        first = (np.ascontiguousarray(part[:, :rank]) for part in (self.encoder, self.decoder))
        return LowRank(*first)

    def balanced(self) -> "LowRank":
        """The same B in the gauge where U and V have equal, diagonal second moments."""
        q_u, r_u = np.linalg.qr(self.encoder.astype(np.float64))
        q_v, r_v = np.linalg.qr(self.decoder.astype(np.float64))
        left, values, right = np.linalg.svd(r_u @ r_v.T)
        root = np.sqrt(values)
        dtype = self.encoder.dtype
        return LowRank((q_u @ left * root).astype(dtype), (q_v @ right.T * root).astype(dtype))


@dataclass(frozen=True)
class Popularity:
    """The same scores for everybody: how many training users each item has."""

    counts: Vector

    def scores(self, x: sp.csr_array) -> Matrix:
        return np.tile(self.counts, (x.shape[0], 1))


@dataclass(frozen=True)
class Fit:
    """A model and how its solver went; closed forms have no history.

    `earlier` is what it took in another process, before this one went on where that one ended.
    """

    model: Model
    history: list[Mapping[str, float]] = field(default_factory=list)
    converged: bool = True
    earlier: Cost = NO_COST

    @property
    def precision(self) -> str:
        """In which it was computed, and is kept; nothing of a model without weights."""
        types = (getattr(part, "dtype", np.dtype(int)) for part in vars(self.model).values())
        return next((str(dtype) for dtype in types if dtype.kind == "f"), "")


class Validation(NamedTuple):
    """The users who decide when a training stops: what is known of them, what is to be found."""

    fold_in: sp.csr_array
    held_out: sp.csr_array


@dataclass(frozen=True)
class Training:
    """The training users' interactions, as models want them.

    `read_gram` gives a fresh X'X of the precision asked for at every call, since solvers work in
    its memory; `dtype` is what they begin with.
    """

    x: sp.csr_array
    read_gram: Callable[[npt.DTypeLike], Matrix]
    seed: int = 1
    spectrum: tuple[Vector, Matrix] | None = None  # of G, where somebody has computed it already
    dtype: np.dtype[Any] = FLOAT32
    validation: Validation | None = None  # of models that stop where these users say
    checkpoint: Path | None = None  # from which such a model goes on where it was killed

    @classmethod
    def of(
        cls,
        x: sp.csr_array,
        seed: int = 1,
        dtype: npt.DTypeLike = np.float32,
        keep: bool = True,
    ) -> "Training":
        """From the interactions alone: X'X is counted here and kept, a matrix beside the solver's.

        Where that is one too many, `keep=False` has every fit count it again.
        """
        dtype = np.dtype(dtype)
        read = gram_matrix(x, dtype).astype if keep else partial(gram_matrix, x)
        return cls(x, read, seed, dtype=dtype)

    @cached_property
    def gram_diagonal(self) -> Vector:
        """diag(X'X): how many users each item has."""
        squares = canonical(self.x).copy()
        squares.data = squares.data.astype(np.float64) ** 2
        return np.asarray(squares.sum(axis=0)).ravel()

    @property
    def items(self) -> int:
        return int(self.x.shape[1])

    @property
    def largest_rank(self) -> int:
        """That X can have."""
        return int(min(self.x.shape))

    def packed(self, dtype: npt.DTypeLike) -> PackedGram:
        return PackedGram(self.read_gram(dtype))

    def top_spectrum(self, k: int) -> tuple[Vector, Matrix]:
        """The k largest eigenpairs of G: shared where possible, else computed."""
        if self.spectrum is not None and len(self.spectrum[0]) >= k:
            values, vectors = self.spectrum
            return values[:k], np.ascontiguousarray(vectors[:, :k])
        gram = self.packed(self.dtype)
        return top_eigenpairs(gram.gram_times, self.items, k, gram.dtype, self.seed)


def dropout_penalty(gram_diagonal: Vector, p: float, ridge: float) -> Vector:
    """The diagonal of Λ̃ = Λ + λI, Λ = p/(1-p) diag(X'X) (Eq. 4)."""
    if not (0.0 <= p < 1.0 and ridge >= 0.0):
        raise UserError(f"p = {p} and λ = {ridge}: p must be from 0 to below 1, λ at least 0")
    return gram_diagonal * (p / (1.0 - p)) + ridge
