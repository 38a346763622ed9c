"""Steck 2020, Sections 2 to 4: the theorem (Eq. 6), what training with dropout minimises."""

from itertools import product

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import EXTENSION, Check, at_most, equal, relative_distance
from lindrop.models.base import FullRankModel
from lindrop.models.full_rank import emphasised_matrix, fit_emphasised
from lindrop.papers.steck2020.problems import (
    EXACT,
    ITEMS,
    Masked,
    Quadratic,
    enumerable,
    equation_6,
    noise,
    off,
    training,
)
from lindrop.papers.steck2020.sampling import theorem_curves

DROPOUTS = 0.2, 0.5, 0.8
WEIGHTS = (1.0, 1.0), (1.0, 0.5), (2.0, 0.05)  # (a, b) of Eq. 1
EPOCHS = tuple(2**k for k in range(2, 9))
FALLING = np.array([1, 0.8, 0.5, 0.2, 0.05, 1e-3, 1e-6])  # values of b at a = 1


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 1 to 4, of the theorem, and of how the diagonal depends on a and b."""
    data, weights, order = np.random.default_rng(seed).spawn(3)
    x, matrix = enumerable(data), weights.normal(size=(ITEMS, ITEMS))
    return [
        *_equation_1(seed),
        *_denoising_checks(x, matrix),
        *_theorem(x, matrix),
        *_diagonal_checks(x, matrix, order),
        *_degree_checks(x),
    ]


def _equation_1(seed: int) -> list[Check]:
    """Checks that the limit in Eq. 1 exists: the distance to it falls as epochs are added.

    It falls as 1/√epochs, as errors of means of independent masks do.
    """
    curves = theorem_curves(seed, rows=60, items=5, runs=10, epochs=EPOCHS)
    medians = curves.groupby(["p", "a", "b", "epochs"])["error"].median().unstack().to_numpy()
    slopes = np.polyfit(np.log(EPOCHS), np.log(medians.T), 1)[0]
    what = f"sampled masks, {EPOCHS[0]} to {EPOCHS[-1]} epochs:"
    rise = (medians[:, 3:] / medians[:, :-3]).max()
    worst = slopes[np.argmax(np.abs(slopes + 0.5))]
    claim = "equation_1"
    return [
        at_most(claim, f"{what} distance to the limit over that of 1/8 of them, largest", rise, 1),
        equal(
            claim,
            f"{what} power of the epochs with which the distance falls, farthest from −1/2",
            worst,
            -0.5,
            0.1,
            EXTENSION,
        ),
    ]


def _denoising_checks(x: Matrix, matrix: Matrix) -> list[Check]:
    """Checks of Eq. 2 to 4; `matrix` is B^(DLAE) = qB, where B is applied to the masked input."""
    outputs, losses, penalties = [], [], []
    for p in DROPOUTS:
        masked, b = Masked(x, p), matrix / (1 - p)
        mean = np.tensordot(masked.outcomes[1], masked.inputs @ b, axes=1)
        outputs.append(relative_distance(mean, x @ matrix))
        loss = Quadratic(x.T @ x, noise(x, p)).value(matrix)
        losses.append(masked.loss(b, 1, 1) / loss - 1)
        units = np.eye(ITEMS)[:, :, None] * np.eye(ITEMS)[0]  # one weight each, at (i, 0)
        found = [masked.loss(u / (1 - p), 1, 1) - np.sum((x - x @ u) ** 2) for u in units]
        penalties.append(relative_distance(np.array(found), noise(x, p)))
    every = "every mask enumerated: relative distance of"
    return [
        equal("equation_2", f"{every} the mean output to X qB", max(outputs), 0, EXACT),
        equal("equation_3", f"{every} the mean loss to Eq. 3", _largest(losses), 0, EXACT),
        equal("equation_4", f"{every} what dropout adds to Λ", max(penalties), 0, EXACT),
    ]


def _theorem(x: Matrix, matrix: Matrix) -> list[Check]:
    """Checks of Eq. 6 at the random `matrix` and of its minimiser, for several p, a and b."""
    losses, minimisers, models = [], [], []
    for p, (a, b) in product(DROPOUTS, WEIGHTS):
        masked, scale = Masked(x, p), a * p + b * (1 - p)
        mean = masked.loss(matrix / (1 - p), a, b)
        losses.append(scale * equation_6(x, matrix, p, a, b) / mean - 1)
        best = emphasised_matrix(x.T @ x, p, 0.0, a, b)
        minimisers.append(relative_distance(masked.minimiser(a, b), best))
        model = fit_emphasised(training(x), p, 0.0, a, b).model
        assert isinstance(model, FullRankModel)
        models.append(relative_distance(masked.minimiser(a, b), model.matrix))
    what = "every mask enumerated: relative distance of"
    return [
        equal("theorem", f"{what} (ap + bq) Eq. 6 to the mean loss", _largest(losses), 0, EXACT),
        equal(
            "theorem",
            f"{what} the minimiser to that of Eq. 6 in closed form",
            max(minimisers),
            0,
            EXACT,
        ),
        equal("theorem", f"{what} the minimiser to the fitted model", max(models), 0, EXACT),
    ]


def _diagonal_checks(x: Matrix, matrix: Matrix, rng: np.random.Generator) -> list[Check]:
    """Checks of Eq. 6 at equal weights (a = b) and at full emphasis (b = 0)."""
    other = off(matrix) + np.diag(rng.normal(0, 10, ITEMS))
    equals, masks, closed, errors = [], [], [], []
    for p in DROPOUTS:
        of_dlae = Quadratic(x.T @ x, noise(x, p))
        equals.append(equation_6(x, matrix, p, 2, 2) / of_dlae.value(matrix) - 1)
        masked = Masked(x, p)
        masks.append(masked.loss(other, 1, 0) / masked.loss(matrix, 1, 0) - 1)
        closed.append(equation_6(x, other, p, 1, 0) / equation_6(x, matrix, p, 1, 0) - 1)
        errors.append(equation_6(x, matrix, p, 1, 0) / of_dlae.value(off(matrix)) - 1)
    change = "b = 0: relative change by another diagonal of B, of"
    return [
        equal("section_2", f"{change} the mean loss", _largest(masks), 0, EXACT),
        equal("section_4_equal", "Eq. 6 at a = b over Eq. 3, less 1", _largest(equals), 0, EXACT),
        equal("section_4_full", f"{change} Eq. 6", _largest(closed), 0, EXACT),
        equal("section_4_full", "b = 0: Eq. 6 over Eq. 3 of off(B)", _largest(errors), 0, EXACT),
    ]


def _degree_checks(x: Matrix) -> list[Check]:
    """Checks of the minimiser as b falls: its diagonal shrinks and its prediction improves.

    The prediction meant is that of each feature from the others.
    """
    diagonal_rises, error_rises = [], []
    for p in DROPOUTS:
        others = Quadratic(x.T @ x, noise(x, p))
        models = [emphasised_matrix(x.T @ x, p, 0.0, 1.0, b) for b in FALLING]
        diagonals = np.array([np.diag(model) for model in models])
        errors = np.array([others.edlae(model) for model in models])
        diagonal_rises.append(np.diff(diagonals, axis=0).max())
        error_rises.append(np.diff(errors).max() / errors[0])
    what = "largest rise as b falls from a to 1e-6 a, of"
    return [
        at_most("section_4_degree", f"{what} a diagonal entry", max(diagonal_rises), 0, EXACT),
        at_most(
            "section_4_degree",
            f"{what} the regularised error of predicting each feature from the others, relative",
            max(error_rises),
            0,
            EXACT,
        ),
    ]


def _largest(errors: list[float]) -> float:
    return max(map(abs, errors))
