"""Corrected ADMM for Eq. 10 and Eq. 11 of Steck 2020; an iteration costs O(items² × rank).

The updates in Section 3 of the paper's supplement penalise all of UV' where only its diagonal is
meant, so they minimise Eq. 10 with 2Λ̃ + ωI in place of Λ̃ (erratum E3). Adding Ω off(UV') of the
previous iterate to the right-hand side turns that penalty into a proximal term, which vanishes at
the solution.
"""

from collections.abc import Callable, Mapping

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.packed import PackedGram
from lindrop.models.edlae.objective import Problem, row_products, symmetric_inverse

Report = Callable[[Mapping[str, float]], None]


class Admm:
    """State of one ADMM run, from a start U, V; `gram` must hold C = (G + Λ̃ + Ω)⁻¹."""

    def __init__(self, gram: PackedGram, problem: Problem, omega: Vector, u: Matrix, v: Matrix):
        self.gram, self.problem = gram, problem
        self.omega = omega.astype(gram.dtype)
        self.shrink = (problem.penalty + omega).astype(gram.dtype)
        self.u, self.v = u, v
        self.gu = gram.gram_times(u)
        self.diagonal = row_products(u, v)
        self.beta = np.zeros(len(u)) if problem.zero_diagonal else self.diagonal.copy()
        self.gamma = np.zeros(len(u))

    def step(self) -> None:
        """Update V, then U, then β = diag(UV') (0 for Eq. 11) and its multipliers γ."""
        self._update_decoder()
        self.diagonal = row_products(self.u, self.v)
        self._update_encoder()
        self.diagonal = row_products(self.u, self.v)
        self._update_diagonal()

    def _update_decoder(self) -> None:
        u, omega = self.u, self.omega[:, None]
        weighted = u.T @ (omega * u)
        left = u.T @ self.gu + u.T @ (self.problem.penalty.astype(u.dtype)[:, None] * u) + weighted
        right = self._column(1.0 + self.beta) * self.gu
        right += self.v @ weighted
        right += omega * self._column(self.beta - self.gamma - self.diagonal) * u
        self.v = right @ symmetric_inverse(left)

    def _update_encoder(self) -> None:
        """U = C M V̂ for the right-hand side M, with V̂ = V (V'V)⁻¹.

        C G = I - C (Λ̃ + Ω) replaces the product of G and V̂.
        """
        dual = self.v @ symmetric_inverse(self.v.T @ self.v)
        stretched = self._column(1.0 + self.beta) * dual
        pulled = self.u + self._column(self.beta - self.gamma - self.diagonal) * dual
        right = self.shrink[:, None] * stretched
        right -= self.omega[:, None] * pulled
        stretched -= self.gram.inverse_times(right)
        self.u = stretched
        self.gu = self.gram.gram_times(self.u)

    def _update_diagonal(self) -> None:
        if not self.problem.zero_diagonal:
            g, omega = self.problem.gram_diagonal, self.omega
            right = row_products(self.gu, self.v) - g + omega * (self.diagonal + self.gamma)
            self.beta = right / (g + omega - self.problem.penalty)
        self.gamma += self.diagonal - self.beta

    def _column(self, values: Vector) -> Matrix:
        return values.astype(self.u.dtype)[:, None]

    def residual(self) -> float:
        """‖diag(UV') - β‖, the primal residual, which is zero at the solution."""
        return float(np.linalg.norm(self.diagonal - self.beta))
