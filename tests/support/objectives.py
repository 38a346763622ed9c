"""Objectives of Steck 2020 as dense expressions in float64, written from the paper.

The objectives use no code of the library; `solved` runs its solvers.
"""

import numpy as np
from scipy.optimize import minimize

from lindrop.models.base import Training
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from support.models import tasteful

DTYPES = [np.float32, np.float64]
CASES = [(0.33, 20.0), (0.5, 0.0), (0.0, 60.0), (0.33, 300.0)]  # p and λ; the last is strong
RANK = 4
X = tasteful(300, 20)
DENSE = X.toarray().astype(float)


def noise(p, x=DENSE):
    """The diagonal of Λ (Eq. 4)."""
    return p / (1 - p) * np.sum(x**2, axis=0)


def off(b):
    return b - np.diag(np.diag(b))


class Loss:
    """‖X - XB‖² + ‖Λ̃^½ B‖² (Eq. 3), of off(B) where the diagonal is free (Eq. 10)."""

    def __init__(self, p, ridge, x=DENSE, free_diagonal=False):
        self.gram, self.penalty = x.T @ x, noise(p, x) + ridge
        self.h = self.gram + np.diag(self.penalty)
        self.part = off if free_diagonal else lambda b: b

    def __call__(self, u, v=None):
        b = self.part(u if v is None else u @ v.T)
        return np.trace(self.gram) - 2 * np.vdot(self.gram, b) + np.vdot(b, self.h @ b)

    def gradient(self, b):
        return self.part(2 * (self.h @ self.part(b) - self.gram))

    def gradients(self, u, v):
        """Gradient of the objective with respect to U and V."""
        of_b = self.gradient(u @ v.T)
        return of_b @ v, of_b.T @ u

    def steepness(self, u, v):
        """The largest entry of the gradients, by the size of their terms, in a balanced gauge."""
        u, v = balanced(u, v)
        return max(abs(of).max() for of in self.gradients(u, v)) / abs(2 * self.gram @ v).max()


class WeightDecay(Loss):
    """‖X - XUV'‖² + λ(‖U‖² + ‖V‖²), row 1."""

    def __init__(self, ridge):
        super().__init__(0.0, 0.0)
        self.ridge = ridge

    def __call__(self, u, v):
        return super().__call__(u, v) + self.ridge * (np.sum(u**2) + np.sum(v**2))

    def gradients(self, u, v):
        of_u, of_v = super().gradients(u, v)
        return of_u + 2 * self.ridge * u, of_v + 2 * self.ridge * v


def balanced(u, v):
    left, values, right = np.linalg.svd(u @ v.T)
    root = np.sqrt(values[: u.shape[1]])
    return left[:, : len(root)] * root, right[: len(root)].T * root


def least(loss, rank=RANK, starts=8):
    """The best of several runs of L-BFGS from random starts."""
    shape, rng = (2, len(loss.gram), rank), np.random.default_rng(0)

    def value_and_gradient(flat):
        u, v = flat.reshape(shape)
        return loss(u, v), np.concatenate(loss.gradients(u, v)).ravel()

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-7, "maxcor": 30}
    runs = [
        minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
        for start in rng.normal(0, 0.3, (starts, np.prod(shape)))
    ]
    return min(run.fun for run in runs)


def training(x=X, dtype=np.float64):
    return Training.of(x, dtype=dtype)


def only(fits):
    """The one fit of an iterative solver, its encoder and its decoder."""
    ((_, fit),) = fits
    return fit, fit.model.encoder, fit.model.decoder


def solved(solver, p, ridge, rank=RANK, x=X, iterations=400, dtype=np.float64, tolerance=-1):
    """Run for so many iterations; a negative tolerance never stops."""
    options = {"iterations": iterations, "tolerance": tolerance}
    fits = fit_edlae
    if solver.startswith("zero diagonal"):
        fits, solver = fit_zero_diagonal, "admm" if "admm" in solver else "lbfgs"
    return only(fits(training(x, dtype), [rank], p, ridge, solver=solver, **options))


def with_multipliers(loss, u, v):
    """How far from stationary the Lagrangian of diag(UV') = 0 is, with its best η, and η."""
    u, v = balanced(u, v)
    of_b = loss.gradient(u @ v.T)
    eta = -(np.sum(of_b @ v * v, axis=1) + np.sum(of_b.T @ u * u, axis=1))
    eta /= np.sum(u**2, axis=1) + np.sum(v**2, axis=1)
    of_b = of_b + np.diag(eta)
    return max(abs(of_b @ v).max(), abs(of_b.T @ u).max()) / abs(2 * loss.gram @ v).max(), eta
