"""Mianjy 2018, Section 3: whether every pair of weight matrices is jointly equalisable."""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import least_squares

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, Check, at_least
from lindrop.dropout.objective import squared_norms
from lindrop.papers.mianjy2018.problems import VALUE

PAIRS, SEARCHES = 60, 20
GRAMS = [[3, 0], [0, 1]], [[2, 1], [1, 2]]  # U'U and V'V, whose equalisers differ
ANGLES = 1001  # rotations by up to a half turn; by a quarter turn, two columns change places


def checks(seed: int) -> list[Check]:
    """Checks of "it is not true in general that any pair (U, V) is jointly equalizable".

    Equal products ‖u_i‖‖v_i‖, as Definition 3.2 asks, need an orthonormal frame on which ‖Ue‖‖Ve‖
    is constant. Every continuous function on a sphere has one (Kakutani; Yamabe and Yujobô 1950).
    Here rotations are searched. Equal ‖u_i‖ and equal ‖v_i‖ under one rotation, as the proof of
    Theorem 3.4 reads the term, are more, and some pairs have no such rotation: all rotations of two
    columns are tried.
    """
    rng = np.random.default_rng(seed)
    missed = 0
    for r in (2, 3, 4, 5):
        for _ in range(PAIRS // 4):
            u, v = (rng.normal(size=(rows, r)) for rows in rng.integers(1, r + 1, 2))
            missed += joint_spread(u, v, rng) > VALUE
    u, v = (np.linalg.cholesky(np.array(gram)).T for gram in GRAMS)
    what = f"of {PAIRS} random pairs, those for which no rotation found makes all ‖u_i‖‖v_i‖ equal"
    either = f"U'U = {GRAMS[0]}, V'V = {GRAMS[1]}, every rotation: least max(|Δ‖u_i‖²|, |Δ‖v_i‖²|)"
    return [
        at_least("e8", what, missed, 1),
        at_least("section_3", either, least_difference(u, v), 1, form=CHARITABLE),
    ]


def least_difference(u: Matrix, v: Matrix) -> float:
    """Least over rotations of the larger difference of the squared norms of two columns."""
    angles = np.linspace(0, np.pi, ANGLES)
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in angles]
    return float(
        min(max(np.ptp(squared_norms(u @ q)), np.ptp(squared_norms(v @ q))) for q in turns)
    )


def joint_spread(u: Matrix, v: Matrix, rng: np.random.Generator) -> float:
    """Least spread of ‖u_i‖²‖v_i‖² that a few searches over rotations find."""
    r = u.shape[1]
    upper = np.triu_indices(r, 1)

    def uneven(angles: Vector, start: Matrix) -> Vector:
        skew = np.zeros((r, r))
        skew[upper] = angles
        q = start @ expm(skew - skew.T)
        products = squared_norms(u @ q) * squared_norms(v @ q)
        return np.asarray(products / products.mean() - 1)

    best = np.inf
    for _ in range(SEARCHES):
        start = np.linalg.qr(rng.normal(size=(r, r)))[0]
        end = least_squares(uneven, np.zeros(len(upper[0])), args=(start,), xtol=1e-15, ftol=1e-15)
        best = min(best, float(np.abs(end.fun).max()))
        if best < VALUE:
            break
    return best
