"""Fits of Eq. 10 and 11 of Steck 2020 at several ranks, which share an inverse and a spectrum."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.errors import UserError
from lindrop.base.reporting import logger
from lindrop.linalg.spectrum import regularised_spectrum, ridge_regression
from lindrop.models.base import Fit, LowRank, Training, dropout_penalty
from lindrop.models.edlae.admm import Admm
from lindrop.models.edlae.als import ExactEncoder
from lindrop.models.edlae.objective import Problem
from lindrop.models.edlae.quasi_newton import QuasiNewton
from lindrop.models.memory import admm_bytes, als_bytes, descent_bytes
from lindrop.models.precision import inverted

Solver = Callable[[Training, Problem, Sequence[int], int, float], Iterator[tuple[int, Fit]]]
SHIFT = 0.1  # ω of the descent, as a share of the mean of diag(H): float32 then inverts G + Λ̃ + ωI


def fit_edlae(
    data: Training,
    ranks: Sequence[int],
    p: float,
    ridge: float,
    solver: str = "lbfgs",
    iterations: int = 100,
    tolerance: float = 1e-4,
) -> Iterator[tuple[int, Fit]]:
    """Fits of the low-rank EDLAE with full emphasis, yielded with their rank.

    Minimises Eq. 10 of Steck 2020 (Table 1, row 5) by quasi-Newton descent, by the corrected ADMM
    or by exact ALS.
    """
    problem = _problem(data, p, ridge, zero_diagonal=False)
    solve = _chosen({"lbfgs": _by_descent, "admm": _by_admm, "als": _by_exact_als}, solver)
    yield from solve(data, problem, ranks, iterations, tolerance)


def fit_zero_diagonal(
    data: Training,
    ranks: Sequence[int],
    p: float,
    ridge: float,
    solver: str = "lbfgs",
    iterations: int = 500,
    tolerance: float = 5e-5,
) -> Iterator[tuple[int, Fit]]:
    """Fits of EDLAE's approximation with diag(UV') = 0, yielded with their rank.

    Minimises Eq. 11 of Steck 2020 by quasi-Newton descent or by the corrected ADMM.
    """
    problem = _problem(data, p, ridge, zero_diagonal=True)
    solve = _chosen({"lbfgs": _by_descent, "admm": _by_admm}, solver)
    yield from solve(data, problem, ranks, iterations, tolerance)


def _chosen(solvers: Mapping[str, Solver], name: str) -> Solver:
    if name not in solvers:
        raise UserError(f"no solver {name!r} of this model; there are {', '.join(solvers)}")
    return solvers[name]


def _problem(data: Training, p: float, ridge: float, zero_diagonal: bool) -> Problem:
    return Problem(data.gram_diagonal, dropout_penalty(data.gram_diagonal, p, ridge), zero_diagonal)


def automatic_omega(h_diagonal: Vector) -> float:
    """Default ω of the ADMM's Ω = Λ̃ + ωI: the mean of diag(H), H = G + Λ̃ (docs/models.md).

    The objective has the curvature -Λ̃ in β, so an ω that does not grow with λ lets columns of U and
    V collapse.
    """
    return float(h_diagonal.mean())


def _by_descent(
    data: Training, problem: Problem, ranks: Sequence[int], iterations: int, tolerance: float
) -> Iterator[tuple[int, Fit]]:
    scale = automatic_omega(problem.gram_diagonal + problem.penalty)
    shift = np.full(data.items, SHIFT * scale)
    _, vectors = data.top_spectrum(max(ranks))
    gram = inverted(data, problem.penalty + shift, descent_bytes(data.items, ranks))
    for rank in ranks:
        decoder = np.ascontiguousarray(vectors[:, :rank], gram.dtype)
        encoder = ridge_regression(gram, problem.penalty + shift, decoder)
        del decoder
        run = QuasiNewton(gram, problem, encoder)
        monitor = _Monitor(problem, tolerance)
        for _ in range(iterations):
            run.step()
            if monitor.record(LowRank(run.u, run.v), run.objective):
                break
        yield rank, monitor.fit(rank)


def _by_admm(
    data: Training, problem: Problem, ranks: Sequence[int], iterations: int, tolerance: float
) -> Iterator[tuple[int, Fit]]:
    omega = problem.penalty + automatic_omega(problem.gram_diagonal + problem.penalty)
    _, vectors = data.top_spectrum(max(ranks))
    gram = inverted(data, problem.penalty + omega, admm_bytes(data.items, ranks))
    for rank in ranks:
        decoder = np.ascontiguousarray(vectors[:, :rank], gram.dtype)
        encoder = ridge_regression(gram, problem.penalty + omega, decoder)
        run = Admm(gram, problem, omega, encoder, decoder)
        monitor = _Monitor(problem, tolerance)
        for _ in range(iterations):
            run.step()
            if monitor.done(run.u, run.v, run.gu, run.residual()):
                break
        yield rank, monitor.fit(rank)


def _by_exact_als(
    data: Training, problem: Problem, ranks: Sequence[int], iterations: int, tolerance: float
) -> Iterator[tuple[int, Fit]]:
    gram = inverted(data, problem.penalty, als_bytes(data.items, ranks))
    _, vectors = regularised_spectrum(gram, problem.penalty, max(ranks), data.seed)
    start = ridge_regression(gram, problem.penalty, vectors)
    for rank in ranks:
        best_encoder = ExactEncoder(gram, problem)
        u, v = (np.ascontiguousarray(part[:, :rank]) for part in (start, vectors))
        monitor = _Monitor(problem, tolerance)
        for _ in range(iterations):
            if monitor.done(u, v, gram.gram_times(u), 0.0):
                break
            v = monitor.model.decoder
            u = best_encoder(v)
        yield rank, monitor.fit(rank)


class _Monitor:
    """Stopping rule of the solvers, which judges an encoder U with the best decoder for it.

    That pair is also the model that a fit returns. `gap` in the history is the objective with the
    solver's own decoder minus that with the best one, relative to the latter.
    """

    def __init__(self, problem: Problem, tolerance: float):
        self.problem, self.tolerance = problem, tolerance
        self.history: list[dict[str, float]] = []
        self.model = LowRank(np.empty((0, 0)), np.empty((0, 0)))
        self.quiet = 0

    def done(self, u: Matrix, v: Matrix, gu: Matrix, residual: float) -> bool:
        """Record the next iterate with its best decoder; true if the solver may stop."""
        problem = self.problem
        best = problem.best_decoder(u, gu)
        objective = problem.objective(u, best, gu)
        gap = (problem.objective(u, v, gu) - objective) / objective
        return self.record(LowRank(u, best), objective, gap, residual)

    def record(
        self, model: LowRank, objective: float, gap: float = 0.0, residual: float = 0.0
    ) -> bool:
        """Record the next iterate; true once two in a row changed less than `tolerance`."""
        last = self.history[-1]["objective"] if self.history else np.inf
        self.model = model
        change = abs(last - objective) / objective
        self.history.append(
            {
                "iteration": len(self.history) + 1,
                "objective": objective,
                "gap": gap,
                "residual": residual,
            }
        )
        logger.info(
            "iteration %(iteration)d: objective %(objective).8g, gap %(gap).1e, "
            "residual %(residual).1e",
            self.history[-1],
        )
        self.quiet = self.quiet + 1 if change <= self.tolerance else 0
        return self.quiet >= 2

    def fit(self, rank: int) -> Fit:
        """The last encoder with its best decoder, and the history."""
        last, converged = self.history[-1], self.quiet >= 2
        logger.info(
            "rank %d: objective %.8g after %d iterations, decoder's gap %.1e, residual %.1e%s",
            rank,
            last["objective"],
            len(self.history),
            last["gap"],
            last["residual"],
            "" if converged else f"; NOT CONVERGED to {self.tolerance:g}",
        )
        return Fit(self.model, list(self.history), converged)
