"""Mianjy 2018, Lemma D.3: its proof's curves through equalised critical points, case by case."""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_most, equal
from lindrop.dropout.landscape import all_missing, exchanged
from lindrop.dropout.objective import expected_loss, squared_norms, tied_objective
from lindrop.papers.mianjy2018.checks.geometry import Examined, curvature

TIME = 0.3  # t of the curves


def case_checks(points: list[Examined]) -> Iterator[Check]:
    """Every check of this file."""
    case_2 = [of for of in points if of.case == 2]
    case_3 = [of for of in points if of.case == 3]
    yield from _case_2(case_2)
    yield from _case_3(case_3)
    beyond = max(all_missing(of.problem, of.point)[1] for of in case_2 if not of.bounded)
    what = "the proof's curve in Case 2 goes down for λ ≥ the printed bound, too: largest g''(0)"
    yield at_most("e10", what, beyond, 0)


def _case_2(points: list[Examined]) -> Iterator[Check]:
    """The regulariser and the Gram matrix along U(t) = W_r Σ' V_r', σ_i'² = σ_i² + t²."""
    errors = np.array([_case_2_errors(of) for of in points])
    gram, gram_right, loss, size, size_right = errors.max(axis=0)
    what = f"Case 2, {len(points)} curves: largest error of"
    checks: tuple[tuple[str, float, Form], ...] = (
        ("U(t)'U(t) = VΣV' + t²I", gram, PRINTED),
        ("U(t)'U(t) = VΣ²V' + t²I", gram_right, CORRECTED),
        ("ℓ(U(t))", loss, CORRECTED),
        ("R(U(t)) = ℓ(U) + …", size, PRINTED),
        ("R(U(t)) = R(U) + …", size_right, CORRECTED),
    )
    for text, error, form in checks:
        yield equal("lemma_d3_proof", f"{what} {text}", error, 0, 1e-12, form)
    curves = ((of, all_missing(of.problem, of.point)) for of in points)
    yield curvature("lemma_d3_proof", "g''(0) of Case 2", curves, CORRECTED)


def _case_2_errors(of: Examined) -> tuple[float, ...]:
    """Of Gram matrix, loss and regulariser; of the first and the last in both forms."""
    m, u, lam, r = of.problem.m, of.point.u, of.problem.lam, of.problem.r
    left, values, right = np.linalg.svd(u)
    rank, square = of.point.rank, TIME**2
    frame = np.hstack((left[:, :rank], of.problem.vectors[:, rank:r]))
    values[rank:] = 0
    moved = frame * np.sqrt(values**2 + square) @ right
    gram = moved.T @ moved - square * np.eye(r)
    before, after = expected_loss(m, u, u), expected_loss(m, moved, moved)
    gap = np.sum(of.problem.values[:r]) - np.sum(values**2)
    growth = lam * r * square**2 + 2 * lam * square * np.sum(u**2)
    size, grown = (lam * np.sum(squared_norms(each) ** 2) for each in (u, moved))
    return (
        np.abs(gram - right.T * values @ right).max(),
        np.abs(gram - right.T * values**2 @ right).max(),
        abs(after - before - r * square**2 + 2 * square * gap),
        abs(grown - before - growth),
        abs(grown - size - growth),
    )


def _case_3(points: list[Examined]) -> Iterator[Check]:
    """The printed difference of f has w_j(t) where w' belongs; at t = 0 it says g'' = 0."""
    printed, corrected = zip(*(_case_3_errors(of) for of in points), strict=True)
    what = f"Case 3, {len(points)} curves: largest error of f(U(t)) − f(U), with"
    yield equal("lemma_d3_proof", f"{what} w_j(t)", max(printed), 0, 1e-12)
    yield equal("lemma_d3_proof", f"{what} w' instead", max(corrected), 0, 1e-12, CORRECTED)
    curves = [(of, exchanged(of.problem, of.point)) for of in points]
    flat = ((of, (tangent, 0.0)) for of, (tangent, _) in curves)
    yield curvature("lemma_d3_proof", "g''(0) of Case 3, with w_j(0)", flat)
    yield curvature("lemma_d3_proof", "g''(0) of Case 3, with w' instead", curves, CORRECTED)


def _case_3_errors(of: Examined) -> tuple[float, float]:
    """Of −2σ_j²t²(w'Mw − w_j'Mw_j), w being w_j(t) as printed and w' as corrected."""
    m, u, lam = of.problem.m, of.point.u, of.problem.lam
    old, new, row = _exchange(of)
    at = np.sqrt(1 - TIME**2) * old + TIME * new
    change = tied_objective(m, u + np.outer(at - old, row), lam) - tied_objective(m, u, lam)
    factor = -2 * (row @ row) * TIME**2
    printed, corrected = (factor * (w @ m @ w - old @ m @ old) for w in (at, new))
    return abs(change - printed), abs(change - corrected)


def _exchange(of: Examined) -> tuple[Matrix, Matrix, Matrix]:
    """w_j, w' and σ_j v_j' of Case 3."""
    spanned = of.point.groups[0].spanned
    missing = min(set(range(of.point.rank)).difference(spanned))
    old, new = (of.problem.vectors[:, index] for index in (spanned[-1], missing))
    return old, new, old @ of.point.u
