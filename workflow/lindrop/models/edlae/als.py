"""Exact alternating least squares for Eq. 10 of Steck 2020, the reference for faster solvers.

The objective never rises from one step to the next.
"""

from typing import Any

import numpy as np
from scipy.linalg import blas
from scipy.sparse.linalg import LinearOperator, minres

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.reporting import logger
from lindrop.linalg.blas import product_into
from lindrop.linalg.packed import PackedGram
from lindrop.models.edlae.objective import Problem, row_products, symmetric_inverse

STEPS = 2000  # upper limit of MINRES steps


class ExactEncoder:
    """Callable that gives the U that minimises Eq. 10 for a V; `gram` must hold C = (G + Λ̃)⁻¹.

    With V̂ = V(V'V)⁻¹, K = V̂V' and D = I - dMat(diag K), U = (dMat(d) + CG + C dMat(μ)) V̂ where
        [ H ∘ (I-K)    D   ] [ d ]   [ diag(GK) - diag(G) ]
        [ D         -C ∘ K ] [ μ ] = [ diag(CGK)          ].
    The symmetric indefinite system is solved by MINRES from the previous solution; both m × m
    blocks are triangles of one further matrix.
    """

    def __init__(self, gram: PackedGram, problem: Problem, tolerance: float = 1e-8):
        self.gram, self.problem = gram, problem
        self.tolerance = max(tolerance, 0.1 * float(np.finfo(gram.dtype).eps))
        self.products = 0
        self._solution = np.zeros(2 * len(gram))

    def __call__(self, v: Matrix) -> Matrix:
        """Best encoder U for the decoder V, both items × rank."""
        gram, problem, m = self.gram, self.problem, len(self.gram)
        dual = v @ symmetric_inverse(v.T @ v)
        k_diagonal = row_products(dual, v)
        blocks = np.empty((m, m), gram.dtype)
        product_into(blocks, dual, v)
        gram.hadamard(blocks)  # G ∘ K above the diagonal, C ∘ K below it
        g, c = problem.gram_diagonal, gram.inverse_diagonal
        h_part = _Symmetric(blocks, lower=False, diagonal=-g * k_diagonal)  # diagonal of -G ∘ K
        c_part = _Symmetric(blocks, lower=True, diagonal=c * k_diagonal)
        freedom = 1.0 - k_diagonal
        h_shift = g + problem.penalty * freedom  # diag(H ∘ (I-K)) + diag(G ∘ K)

        def times(x: Vector) -> Vector:
            self.products += 1
            d, mu = x[:m], x[m:]
            upper = h_shift * d - h_part.off_diagonal(d) + h_part.diagonal * d + freedom * mu
            return np.concatenate([upper, freedom * d - c_part(mu)])

        gk = h_part.off_diagonal(np.ones(m)) + g * k_diagonal
        right = np.concatenate([gk - g, k_diagonal - c_part(problem.penalty)])
        scale = np.concatenate([h_shift + h_part.diagonal, c_part.diagonal])
        scale = np.maximum(np.abs(scale), 1e-12 * np.abs(scale).max())
        operator = LinearOperator((2 * m, 2 * m), matvec=times, dtype=np.float64)
        precondition = LinearOperator((2 * m, 2 * m), matvec=lambda x: x / scale, dtype=np.float64)
        self._solution, failed = minres(
            operator, right, x0=self._solution, rtol=self.tolerance, M=precondition, maxiter=STEPS
        )
        if failed:
            logger.info("encoder: NOT CONVERGED to %g in %d steps", self.tolerance, STEPS)
        d, mu = self._solution[:m], self._solution[m:]
        column = (problem.penalty - mu).astype(v.dtype)[:, None]
        u: Matrix = (1.0 + d).astype(v.dtype)[:, None] * dual
        u -= gram.inverse_times(column * dual)
        return u


class _Symmetric:
    """Symmetric operator made of one triangle of a matrix and a separately given diagonal."""

    def __init__(self, matrix: Matrix, lower: bool, diagonal: Vector):
        self.matrix, self.lower = matrix, lower
        self.stored = matrix.diagonal().astype(np.float64)
        self.diagonal = diagonal
        self.symv: Any = blas.get_blas_funcs("symv", dtype=matrix.dtype)

    def off_diagonal(self, x: Vector) -> Vector:
        # Fortran reads the transposed matrix: its lower triangle is the upper one here
        y = self.symv(1.0, self.matrix.T, x.astype(self.matrix.dtype), lower=int(not self.lower))
        product: Vector = y.astype(np.float64) - self.stored * x
        return product

    def __call__(self, x: Vector) -> Vector:
        product: Vector = self.off_diagonal(x) + self.diagonal * x
        return product
