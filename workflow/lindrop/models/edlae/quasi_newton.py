"""Quasi-Newton descent for Eq. 10 and Eq. 11 of Steck 2020, over the encoder U alone.

The decoder is always the best one for U (variable projection), so what descends is φ(U) = min over
V of the objective, whose gradient is that of the objective in U at the best V. BFGS is started at
every step from C ⊗ (V'V)⁻¹, C = (G + Λ̃ + shift)⁻¹, which is the inverse curvature of the objective
without what the diagonal of UV' adds. An iteration costs three products of items × items by rank.
"""

from typing import NamedTuple

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.packed import PackedGram
from lindrop.models.edlae.objective import (
    Problem,
    RankTooLarge,
    lower_factor,
    row_products,
    symmetric_inverse,
)

PAIRS = 1  # earlier steps from which the curvature is corrected; two saved no iterations
DECREASE = 1e-4  # share of the slope by which a step must lower the objective (Armijo)
TRIALS = 8  # most lengths of a step that are tried; each is at most half of the one before
SHORTEST = 0.1  # of the length before
REFRESHED = 16  # iterations after which U and V are scaled, and G U is computed anew


class Step(NamedTuple):
    """A step S of the encoder, the change Y of half the gradient, and 1 / (S · Y)."""

    s: Matrix
    y: Matrix
    scale: float


class QuasiNewton:
    """State of one descent from an encoder U; `gram` must hold C = (G + Λ̃ + shift)⁻¹.

    `objective` never rises but for rounding, and `v` is the best decoder for `u`. If no step lowers
    the objective, it stays, and the next step is that of the preconditioned gradient.
    """

    def __init__(self, gram: PackedGram, problem: Problem, u: Matrix):
        self.gram, self.problem = gram, problem
        self.steps: list[Step] = []
        self.taken = 0
        self.freedom = np.empty(0)  # diag(U (U'HU)⁻¹ U') of Eq. 11
        self.u, self.gu = u, gram.gram_times(u)
        self.v, self.objective = self._decoded(u, self.gu)
        self.half = self._half_gradient()

    def step(self) -> None:
        """Move U along the quasi-Newton direction, not further than the objective falls."""
        d = self._direction()
        slope = 2 * _dot(self.half, d)
        moved = slope > 0 and self._moved(d, slope)
        self.taken += 1
        if not moved or self.taken % REFRESHED == 0:
            self._refresh()

    def _moved(self, d: Matrix, slope: float) -> bool:
        """Take the step -t D of the first t that lowers the objective enough; false if none does.

        The next t is where the parabola through both objectives with this slope is lowest.
        """
        t, gd, dtype = 1.0, self.gram.gram_times(d), self.u.dtype.type
        for _ in range(TRIALS):
            u, gu = self.u - dtype(t) * d, self.gu - dtype(t) * gd
            try:
                v, objective = self._decoded(u, gu)
            except RankTooLarge:
                objective = np.inf
            rise = objective - self.objective
            if rise <= -DECREASE * t * slope:
                d *= dtype(-t)  # now the step
                del gd
                self._accept(d, u, gu, v, objective)
                return True
            lowest = slope * t**2 / (2 * (rise + t * slope))
            t = min(max(lowest, SHORTEST * t), t / 2) if np.isfinite(rise) else SHORTEST * t
        return False

    def _accept(self, s: Matrix, u: Matrix, gu: Matrix, v: Matrix, objective: float) -> None:
        y = self.half
        self.u, self.gu, self.v, self.objective = u, gu, v, objective
        self.half = self._half_gradient()
        np.subtract(self.half, y, out=y)
        curvature = _dot(s, y)
        if curvature > np.finfo(u.dtype).eps * np.sqrt(_dot(s, s) * _dot(y, y)):
            self.steps = [*self.steps, Step(s, y, 1 / curvature)][-PAIRS:]

    def _refresh(self) -> None:
        """Scale U and V so that V'V = I, which the steps move away from, and compute G U anew."""
        self.steps = []
        factor = lower_factor(self.v.T @ self.v)
        self.u = self.u @ factor.astype(self.u.dtype)
        self.gu = self.gram.gram_times(self.u)
        self.v, self.objective = self._decoded(self.u, self.gu)
        self.half = self._half_gradient()

    def _decoded(self, u: Matrix, gu: Matrix) -> tuple[Matrix, float]:
        """The best decoder for U, and the objective with it."""
        v = self.problem.best_decoder(u, gu)
        return v, self.problem.objective(u, v, gu)

    def _half_gradient(self) -> Matrix:
        """Half the gradient of φ: off(H off(UV') - G) V, for Eq. 11 (H UV' - G + dMat(η)) V."""
        u, gu, v, problem = self.u, self.gu, self.v, self.problem
        hu = problem.regularised(u, gu)
        if problem.zero_diagonal:
            b = np.zeros(len(u))
            _, self.freedom, own = problem.multipliers(u, gu)
        else:
            b = row_products(u, v)
            own = problem.gram_diagonal * (1.0 + b) - row_products(hu, v)
        half: Matrix = hu @ (v.T @ v)
        half -= self.gram.gram_times(self._column(1.0 + b) * v)
        half += self._column(own) * v
        return half

    def _direction(self) -> Matrix:
        """Direction of steepest ascent in the metric of BFGS (two-loop recursion)."""
        q, along, dtype = self.half.copy(), [], self.u.dtype.type
        for s, y, scale in reversed(self.steps):
            along.append(scale * _dot(s, q))
            q -= dtype(along[-1]) * y
        d = self._preconditioned(q)
        for (s, y, scale), first in zip(self.steps, reversed(along), strict=True):
            d += dtype(first - scale * _dot(y, d)) * s
        return d

    def _preconditioned(self, q: Matrix) -> Matrix:
        """P Q for a symmetric positive definite P; Q is overwritten.

        With Eq. 10, P = C ⊗ (V'V)⁻¹. With Eq. 11, a change of U_i along V_i turns V_i, which adds
        the curvature 1 / (U_i (U'HU)⁻¹ U_i') along V_i: without bound where U_i is small. P then
        shortens this part of every row, before and after.
        """
        inner = symmetric_inverse(self.v.T @ self.v)
        if not self.problem.zero_diagonal:
            return self.gram.inverse_times(q @ inner)
        dual = self.v @ inner
        leverage = row_products(dual, self.v)
        bound = (self.freedom > 0) & (leverage > 0)
        ratio = self.gram.inverse_diagonal * leverage / np.where(bound, self.freedom, 1.0)
        cut = np.where(bound, 1.0 - 1.0 / np.sqrt(1.0 + ratio), 0.0)
        cut /= np.where(bound, leverage, 1.0)
        q -= self._column(cut * row_products(dual, q)) * self.v
        d = self.gram.inverse_times(q @ inner)
        d -= self._column(cut * row_products(self.v, d)) * dual
        return d

    def _column(self, values: Vector) -> Matrix:
        return values.astype(self.u.dtype)[:, None]


def _dot(a: Matrix, b: Matrix) -> float:
    """The inner product of two matrices, summed in float64."""
    return float(np.einsum("ij,ij->", a, b, dtype=np.float64))
