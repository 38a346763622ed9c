"""Mianjy 2018, Section 3: whether every pair of weight matrices is jointly equalisable."""

import numpy as np
from scipy.linalg import expm
from scipy.optimize import least_squares

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CORRECTED, Check, at_least, equal
from lindrop.dropout.objective import squared_norms
from lindrop.papers.mianjy2018.problems import VALUE

PAIRS, SEARCHES = 60, 20


def checks(seed: int) -> list[Check]:
    """Checks of "It is not true in general that any pair is jointly equalizable", which is wrong.

    The definition asks for an orthonormal frame on which ‖Ue‖‖Ve‖ is constant. Every continuous
    function on a sphere has one (Kakutani; Yamabe and Yujobô 1950). Here rotations are searched.
    """
    rng = np.random.default_rng(seed)
    missed = 0
    for r in (2, 3, 4, 5):
        for _ in range(PAIRS // 4):
            u, v = (rng.normal(size=(rows, r)) for rows in rng.integers(1, r + 1, 2))
            missed += joint_spread(u, v, rng) > VALUE
    what = f"of {PAIRS} random pairs, those that no rotation found equalises jointly"
    return [
        at_least("section_3", what, missed, 1),
        equal("section_3", what, missed, 0, form=CORRECTED),
    ]


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
