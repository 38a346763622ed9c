"""Mianjy 2018, Appendix D: steps of its proofs, at every critical point of small problems.

Lemma D.3 follows curves through equalised critical points, in three cases.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    EXTENSION,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.dropout.equalise import equalised_factors
from lindrop.dropout.landscape import CriticalPoint, Group, Tied, all_missing, exchanged
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
from lindrop.papers.mianjy2018.critical_points import STRICT, second_difference

NODES = 4  # hidden nodes of the problems used here

TIME = 0.3  # t at which the curves are checked
SIDE = 0.01  # distance of λ to the bound of Case 2, relative, at which the curve must turn


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

    At critical points, nodes of unequal norms are orthogonal, so δ depends on the sign of zero,
    which the proof leaves open: with 0, nothing turns; with either sign, R falls.
    """
    uneven = [_extremes_first(of.point.u) for of in points if not of.point.equalised]
    crossing = max(abs(u[:, 0] @ u[:, 1]) for u in uneven)
    what = f"{len(uneven)} critical points that are not equalised:"
    with_zero = [u for u in uneven if not np.any(u[:, 1])]
    text = f"{what} {len(with_zero)} with a node that is zero, smallest fall of R, sgn 0 = 0"
    printed = min(levelled(u, lemma_d2_angle(u)) for u in with_zero)
    yield at_least("lemma_d2_rotation", text, printed, TURN**2)
    text = f"{what} smallest fall of R, sgn 0 = 1 or −1"
    falls = min(levelled(u, sign * TURN) for u in uneven for sign in (1, -1))
    yield at_least("lemma_d2_rotation", text, falls, TURN**2, form=CHARITABLE)
    text = f"{what} largest |u₁'u₂|"
    yield equal("lemma_d2_rotation", text, crossing, 0, 1e-12, CHARITABLE)


def _equation_17(points: list[Examined]) -> Iterator[Check]:
    """Check of Eq. 17 as the solution by Lemma A.2, which contains 11'."""
    errors = []
    for of in points:
        if of.point.equalised and of.point.rank:
            values = of.problem.values[list(of.point.groups[0].spanned)]
            squares = np.linalg.svd(of.point.u, compute_uv=False)[: of.point.rank] ** 2
            share = of.problem.lam / (of.problem.r + of.problem.lam * of.point.rank)
            errors.append(relative_distance(values - share * values.sum(), squares))
    what = f"{len(errors)} equalised critical points: largest relative error of σ² by (I − c11')λ"
    yield equal("equation_17", what, max(errors), 0, 1e-12, CHARITABLE)


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


def _bound(cases: Sequence[Tied]) -> Iterator[Check]:
    """Checks of the bound of Case 2: it falls with r', and the curve goes down just below it only.

    The bound at r − 1 is therefore the strictest; Theorem 4.3 demands it of λ.
    """
    bounds = [(case_2_bounds(of), printed_bound(of)) for of in cases]
    rise = max(np.diff(each).max() for each, _ in bounds)
    yield at_most("lemma_d3_bound", "largest rise of the bound on λ with r'", rise, 0)
    error = max(abs(each[-1] / printed - 1) for each, printed in bounds)
    what = "relative distance of the last one to Theorem 4.3's"
    yield equal("lemma_d3_bound", what, error, 0, 1e-12)
    bends = np.array(
        [
            [_bend_of_case_2(of._replace(lam=side * bound), rank) for side in (1 - SIDE, 1 + SIDE)]
            for of in cases[:1]
            for rank, bound in enumerate(case_2_bounds(of), 1)
        ]
    )
    what = "f'' along the proof's curve from every r', by differences of f, at λ = bound"
    yield at_most("lemma_d3_bound", f"{what} − {SIDE:.0%}: largest", bends[:, 0].max(), -STRICT)
    yield at_least("lemma_d3_bound", f"{what} + {SIDE:.0%}: smallest", bends[:, 1].min(), STRICT)


def _bend_of_case_2(of: Tied, rank: int) -> float:
    """Second derivative of f along the curve of Case 2, from the point on `rank` eigenvectors."""
    values = of.values[:rank]
    squares = values - of.lam * values.sum() / (of.r + of.lam * rank)
    leading = of.vectors[:, :rank]
    u = equalised_factors(leading, squares, leading, of.r)[0]
    point = CriticalPoint(u, (Group(of.r, tuple(range(rank))),), 0.0)
    tangent, _ = all_missing(of, point)
    return second_difference(lambda at: tied_objective(of.m, at, of.lam), u, tangent)


def _lemma_d3(points: list[Examined]) -> Iterator[Check]:
    """Checks of the curves in Cases 2 and 3 of Lemma D.3, and of Case 2 for larger λ (E10)."""
    case_2 = [of for of in points if of.case == 2]
    case_3 = [of for of in points if of.case == 3]
    yield from _case_2(case_2)
    yield from _case_3(case_3)
    beyond = max(all_missing(of.problem, of.point)[1] for of in case_2 if not of.bounded)
    what = "λ ≥ the printed bound, where the proof's curve in Case 2 can rise: largest g''(0)"
    yield at_least("e10", what, beyond, STRICT, form=EXTENSION)


def _case_2(points: list[Examined]) -> Iterator[Check]:
    """Checks of R and of the Gram matrix along U(t) = W_r Σ' V_r', where σ_i'² = σ_i² + t²."""
    errors = np.array([_case_2_errors(of) for of in points])
    what = f"Case 2, {len(points)} curves: largest error of"
    texts = "U(t)'U(t) = U'U + t²I", "ℓ(U(t)) = ℓ(U) + …", "R(U(t)) = R(U) + …"
    for text, error in zip(texts, errors.max(axis=0), strict=True):
        yield equal("lemma_d3_proof", f"{what} {text}", error, 0, 1e-12, CHARITABLE)
    curves = [(of, all_missing(of.problem, of.point)) for of in points]
    yield curvature("lemma_d3_proof", "g''(0) of Case 2", curves, CHARITABLE)
    down = [of.bend(tangent) for of, (tangent, _) in curves if of.bounded]
    what = f"Case 2, {len(down)} curves, λ below the printed bound: largest f'' by differences of f"
    yield at_most("lemma_d3_proof", what, max(down), -STRICT, form=CHARITABLE)


def _case_2_errors(of: Examined) -> tuple[float, ...]:
    """Errors of the Gram matrix, the loss and R along the curve."""
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
        np.abs(gram - u.T @ u).max(),
        abs(after - before - r * square**2 + 2 * square * gap),
        abs(grown - size - growth),
    )


def _case_3(points: list[Examined]) -> Iterator[Check]:
    """Checks of the change of f along the curve of Case 3, with w' where g''(0) has w_j(t).

    So it follows from the trace in the line before; at t = 0, w_j(t) is w_j.
    """
    error = max(map(_case_3_error, points))
    what = f"Case 3, {len(points)} curves: largest error of f(U(t)) − f(U), with w'"
    yield equal("lemma_d3_proof", what, error, 0, 1e-12, CHARITABLE)
    curves = [(of, exchanged(of.problem, of.point)) for of in points]
    yield curvature("lemma_d3_proof", "g''(0) of Case 3, with w'", curves, CHARITABLE)


def _case_3_error(of: Examined) -> float:
    """Error of f(U(t)) − f(U) = −2σ_j²t²(w'ᵀMw' − w_jᵀMw_j)."""
    m, u, lam = of.problem.m, of.point.u, of.problem.lam
    old, new, row = _exchange(of)
    at = np.sqrt(1 - TIME**2) * old + TIME * new
    change = tied_objective(m, u + np.outer(at - old, row), lam) - tied_objective(m, u, lam)
    claimed = -2 * (row @ row) * TIME**2 * (new @ m @ new - old @ m @ old)
    return abs(change - float(claimed))


def _exchange(of: Examined) -> tuple[Matrix, Matrix, Matrix]:
    """The vectors w_j, w' and σ_j v_j' of Case 3."""
    spanned = of.point.groups[0].spanned
    missing = min(set(range(of.point.rank)).difference(spanned))
    old, new = (of.problem.vectors[:, index] for index in (spanned[-1], missing))
    return old, new, old @ of.point.u
