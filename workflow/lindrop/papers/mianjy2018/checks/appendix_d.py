"""Mianjy 2018, Appendix D: steps of its proofs, at every critical point of small problems.

Lemma D.3 follows curves through equalised critical points, in three cases.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CORRECTED,
    PRINTED,
    Check,
    Form,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.dropout.landscape import Tied, all_missing, exchanged
from lindrop.dropout.objective import expected_loss, path_regulariser, squared_norms, tied_objective
from lindrop.dropout.optimum import effective_rank
from lindrop.papers.mianjy2018.checks.equalisation import TURN, lemma_d2_angle, levelled, turned
from lindrop.papers.mianjy2018.checks.geometry import (
    Examined,
    curvature,
    examined,
    printed_bound,
    problems,
)
from lindrop.papers.mianjy2018.critical_points import STRICT

NODES = 4  # hidden nodes of the problems used here

TIME = 0.3  # t at which the curves are checked


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 15 to 17, of Lemmas D.2 and D.3, and of the bounds in Case 2."""
    first, second = np.random.default_rng(seed).spawn(2)
    cases = [problem for problem in problems(first) if problem.r == NODES]
    points = [of for problem in cases for of in examined(problem, second)]
    return [
        _contribution_1_local(points),
        *_equation_15(points),
        *_equation_16(points),
        *_lemma_d2_rotation(points),
        *_equation_17(points),
        _partition(points),
        *_bound(cases),
        *_lemma_d3(points),
    ]


def _contribution_1_local(points: list[Examined]) -> Check:
    """Check that ψ₂ is least among all factorisations at points without negative curvature.

    The least value is ‖UU'‖_*/√r, because ψ₂² ≥ (Σ‖u_i‖‖v_i‖)²/r ≥ ‖UV'‖_*²/r.
    """
    local = [of.point.u for of in points if of.least > -STRICT]
    ratios = [path_regulariser(u, u) * np.sqrt(NODES) / np.sum(u**2) for u in local]
    what = f"{len(local)} critical points without negative curvature: ψ₂ against ‖UU'‖_*/√r"
    error = np.abs(np.array(ratios) - 1).max()
    return equal("contribution_1_local", f"{what}, largest relative distance", error, 0, 1e-12)


def _equation_15(points: list[Examined]) -> Iterator[Check]:
    sides, swaps = [], []
    for of in points:
        m, u = of.problem.m, of.point.u
        square = u @ u.T
        weighted = of.problem.lam * (u * squared_norms(u)) @ u.T
        sides.append(np.linalg.norm(m @ square - square @ square - weighted))
        swaps.append(np.linalg.norm(m @ square - square @ m))
    what = f"{len(points)} critical points: largest"
    yield equal("equation_15", f"{what} difference of its sides", max(sides), 0, 1e-12)
    yield equal("equation_15", f"{what} ‖MUU' − UU'M‖", max(swaps), 0, 1e-12)


def _extremes_first(u: Matrix) -> Matrix:
    """U with its longest column first and its shortest second."""
    order = np.argsort(-squared_norms(u))
    return u[:, np.concatenate((order[:1], order[-1:], order[1:-1]))]


def _equation_16(points: list[Examined]) -> Iterator[Check]:
    """Checks of Eq. 16: the rotation Q_δ keeps ‖u₁‖² + ‖u₂‖², and UQ_δ is near U."""
    sums, distances = [], []
    for of in points:
        u = _extremes_first(of.point.u)
        moved = turned(u, TURN)
        sums.append(abs(squared_norms(moved)[:2].sum() - squared_norms(u)[:2].sum()))
        distances.append(np.sum((moved - u) ** 2) / (2 * TURN**2 * of.problem.values.sum()))
    what = f"{len(points)} critical points, two columns turned by δ: largest"
    yield equal("equation_16", f"{what} change of ‖u₁‖² + ‖u₂‖²", max(sums), 0, 1e-14)
    yield at_most("equation_16", f"{what} ‖U − Û‖² / (2δ² tr M)", max(distances), 1)


def _lemma_d2_rotation(points: list[Examined]) -> Iterator[Check]:
    """Checks that the rotation in the proof of Lemma D.2 lowers R.

    At critical points, nodes of unequal norms are orthogonal, so the printed δ is zero.
    """
    uneven = [_extremes_first(of.point.u) for of in points if not of.point.equalised]
    crossing = max(abs(u[:, 0] @ u[:, 1]) for u in uneven)
    with_zero = [u for u in uneven if not np.any(u[:, 1])]
    what = f"{len(with_zero)} critical points, one node zero: smallest fall of R, δ ="
    printed = min(levelled(u, lemma_d2_angle(u)) for u in with_zero)
    yield at_least("lemma_d2_rotation", f"{what} −c·sgn(u₁'u₂)", printed, TURN**2)
    what = f"{len(uneven)} critical points that are not equalised:"
    falls = min(levelled(u, TURN) for u in uneven)
    text = f"{what} smallest fall of R, δ = c"
    yield at_least("lemma_d2_rotation", text, falls, TURN**2, form=CORRECTED)
    text = f"{what} largest |u₁'u₂|"
    yield equal("lemma_d2_rotation", text, crossing, 0, 1e-12, CORRECTED)


def _equation_17(points: list[Examined]) -> Iterator[Check]:
    """Checks of Eq. 17: the solution by Lemma A.2 contains 11', which is missing in print."""
    printed, corrected = [], []
    for of in points:
        if of.point.equalised and of.point.rank:
            values = of.problem.values[list(of.point.groups[0].spanned)]
            squares = np.linalg.svd(of.point.u, compute_uv=False)[: of.point.rank] ** 2
            share = of.problem.lam / (of.problem.r + of.problem.lam * of.point.rank)
            printed.append(relative_distance((1 - share) * values, squares))
            corrected.append(relative_distance(values - share * values.sum(), squares))
    what = f"{len(printed)} equalised critical points: largest relative error of σ²"
    yield equal("equation_17", f"{what} by (I − cI)λ", max(printed), 0, 1e-12)
    yield equal("equation_17", f"{what} by (I − c11')λ", max(corrected), 0, 1e-12, CORRECTED)


def _partition(points: list[Examined]) -> Check:
    """Check that no equalised critical point spans the first r' > ρ eigenvectors."""
    excess = [
        of.point.rank - effective_rank(of.problem.values, of.problem.r, of.problem.lam)
        for of in points
        if of.point.leading
    ]
    what = f"{len(excess)} equalised critical points on leading eigenvectors: largest rank less ρ"
    return at_most("lemma_d3_partition", what, max(excess), 0)


def case_2_bounds(of: Tied) -> Vector:
    """Bounds of λ in Case 2 for r' = 1 … r − 1: r h(r') / Σ_{i≤r'} (λ_i − h(r')).

    h(r') is the mean of λ_{r'+1} … λ_r.
    """
    values = of.values[: of.r]
    ranks = np.arange(1, of.r)
    head = np.cumsum(values)[:-1]
    mean = (values.sum() - head) / (of.r - ranks)
    return np.asarray(of.r * mean / (head - ranks * mean))


def _bound(cases: Iterable[Tied]) -> Iterator[Check]:
    """Check that the bound of Case 2 falls with r'.

    The bound at r − 1 is therefore the strictest; Theorem 4.3 demands it of λ.
    """
    bounds = [(case_2_bounds(of), printed_bound(of)) for of in cases]
    rise = max(np.diff(each).max() for each, _ in bounds)
    yield at_most("lemma_d3_bound", "largest rise of the bound on λ with r'", rise, 0)
    error = max(abs(each[-1] / printed - 1) for each, printed in bounds)
    what = "relative distance of the last one to Theorem 4.3's"
    yield equal("lemma_d3_bound", what, error, 0, 1e-12)


def _lemma_d3(points: list[Examined]) -> Iterator[Check]:
    """Checks of the curves in Cases 2 and 3 of Lemma D.3, and of Case 2 for larger λ (E10)."""
    case_2 = [of for of in points if of.case == 2]
    case_3 = [of for of in points if of.case == 3]
    yield from _case_2(case_2)
    yield from _case_3(case_3)
    beyond = max(all_missing(of.problem, of.point)[1] for of in case_2 if not of.bounded)
    what = "the proof's curve in Case 2 goes down for λ ≥ the printed bound, too: largest g''(0)"
    yield at_most("e10", what, beyond, 0)


def _case_2(points: list[Examined]) -> Iterator[Check]:
    """Checks of R and of the Gram matrix along U(t) = W_r Σ' V_r', where σ_i'² = σ_i² + t²."""
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
    """Errors of the Gram matrix (printed, corrected), the loss, and R (printed, corrected)."""
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
    """Checks of the change of f along the curve of Case 3.

    The printed formula has w_j(t) in place of w'; at t = 0 it implies g'' = 0.
    """
    printed, corrected = zip(*(_case_3_errors(of) for of in points), strict=True)
    what = f"Case 3, {len(points)} curves: largest error of f(U(t)) − f(U), with"
    yield equal("lemma_d3_proof", f"{what} w_j(t)", max(printed), 0, 1e-12)
    yield equal("lemma_d3_proof", f"{what} w' instead", max(corrected), 0, 1e-12, CORRECTED)
    curves = [(of, exchanged(of.problem, of.point)) for of in points]
    flat = ((of, (tangent, 0.0)) for of, (tangent, _) in curves)
    yield curvature("lemma_d3_proof", "g''(0) of Case 3, with w_j(0)", flat)
    yield curvature("lemma_d3_proof", "g''(0) of Case 3, with w' instead", curves, CORRECTED)


def _case_3_errors(of: Examined) -> tuple[float, float]:
    """Errors of −2σ_j²t²(w'Mw − w_j'Mw_j), with w = w_j(t) as printed and w = w'."""
    m, u, lam = of.problem.m, of.point.u, of.problem.lam
    old, new, row = _exchange(of)
    at = np.sqrt(1 - TIME**2) * old + TIME * new
    change = tied_objective(m, u + np.outer(at - old, row), lam) - tied_objective(m, u, lam)
    factor = -2 * (row @ row) * TIME**2
    printed, corrected = (factor * (w @ m @ w - old @ m @ old) for w in (at, new))
    return abs(change - printed), abs(change - corrected)


def _exchange(of: Examined) -> tuple[Matrix, Matrix, Matrix]:
    """The vectors w_j, w' and σ_j v_j' of Case 3."""
    spanned = of.point.groups[0].spanned
    missing = min(set(range(of.point.rank)).difference(spanned))
    old, new = (of.problem.vectors[:, index] for index in (spanned[-1], missing))
    return old, new, old @ of.point.u
