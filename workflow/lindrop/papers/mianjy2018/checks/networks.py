"""Mianjy 2018, Section 3: global optima of networks with free weights U and V.

Theorems 3.3, 3.4 and 3.6, Remark 3.5, and contributions 1 and 2 on what these optima are like.
"""

from collections.abc import Iterator

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import (
    CHARITABLE,
    Check,
    at_least,
    at_most,
    equal,
    relative_distance,
)
from lindrop.dropout.equalise import equalised, universal_equalizer
from lindrop.dropout.multistart import descents, minima
from lindrop.dropout.objective import importance, objective, path_regulariser, squared_norms
from lindrop.dropout.optimum import (
    Spectrum,
    optimal_value,
    shrunk,
    tied_optimal_value,
    top_eigen,
    top_singular,
)
from lindrop.papers.mianjy2018.problems import (
    COLUMNS,
    LAMBDAS,
    PRODUCT,
    ROWS,
    SETTINGS,
    STARTS,
    VALUE,
    WIDTHS,
    Case,
    optimum_checks,
    spread,
)

PAIRS = 20

PATH_STARTS = 2
NODES = 4  # a power of two, for which Remark 5.2 has other equalisers than Algorithm 2
REPEATS = 10
ZERO = 1e-3  # singular values below this share of the largest count as zero


def checks(seed: int) -> list[Check]:
    """Checks of the ends of descents from random starts, for several r and λ."""
    data, descent, rotations = np.random.default_rng(seed).spawn(3)
    m = data.normal(size=(ROWS, COLUMNS))
    cases = [Case(m, r, lam, minima(m, r, lam, STARTS, descent)) for r, lam in SETTINGS]
    return [
        *_theorem_3_3(rotations),
        *_theorem_3_4(cases, rotations),
        *optimum_checks("theorem_3_6", cases, _least),
        *_contribution_1(cases, rotations),
        *_contribution_2(rotations),
        *_remark_3_5(cases),
    ]


def _theorem_3_3(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of Theorem 3.3: weights with the same UV' and norms ‖UV'‖_*/r.

    Its proof takes a compact SVD of UV', with r columns as the theorem's factors have.
    """
    changes, norms = [], []
    for r in WIDTHS:
        u, v = rng.normal(size=(ROWS, r)), rng.normal(size=(COLUMNS, r))
        other = equalised(u, v)
        changes.append(relative_distance(other[0] @ other[1].T, u @ v.T))
        norms.append(_share_error(u @ v.T, r, *other))
    what = f"r = {WIDTHS}, products of rank up to {COLUMNS}: largest relative"
    yield equal("theorem_3_3", f"{what} change of UV' by equalising", max(changes), 0, 1e-12)
    what = f"{what} distance of ‖u_i‖², ‖v_i‖² to ‖UV'‖_*/r"
    yield equal("theorem_3_3", what, max(norms), 0, 1e-12)
    yield equal("theorem_3_3_proof", f"{what}, r columns", max(norms), 0, 1e-12)


def _share_error(product: Matrix, r: int, u: Matrix, v: Matrix) -> float:
    """Largest relative distance of a squared column norm to ‖UV'‖_*/r."""
    norms = np.concatenate((squared_norms(u), squared_norms(v)))
    return float(np.abs(norms / (np.linalg.norm(product, "nuc") / r) - 1).max())


def _theorem_3_4(cases: list[Case], rng: np.random.Generator) -> Iterator[Check]:
    """Checks of Theorem 3.4, and of the second half of its proof.

    It says that ‖u_i‖² = ‖v_i‖² = tr(Σ)/r for jointly equalised U and V. This holds at the global
    optima, of which it speaks, once nodes are rescaled to ‖u_i‖ = ‖v_i‖; not by Definition 3.2
    alone, from which Σ‖u_i‖‖v_i‖ ≥ ‖UV'‖_* follows.
    """
    ends = [(case.r, end) for case in cases for end in case.reached]
    scores = [importance(end.u, end.v) for _, end in ends]
    nuclear = [nuclear_norm(end.u, end.v) for _, end in ends]
    excess = [
        abs(each @ each / (norm**2 / r) - 1)
        for (r, _), each, norm in zip(ends, scores, nuclear, strict=True)
    ]
    what = f"{len(ends)} global optima from random starts:"
    uneven = max(map(spread, scores))
    yield equal("theorem_3_4", f"{what} spread of importance scores", uneven, 0, PRODUCT)
    yield equal("theorem_3_4", f"{what} error of R = (λ/r)‖UV'‖_*²", max(excess), 0, VALUE)
    ratios = [importance(*pair).sum() / nuclear_norm(*pair) for pair in jointly_equalised(rng)]
    what = f"{len(ratios)} random jointly equalised networks: Σ‖u_i‖‖v_i‖ / ‖UV'‖_*"
    yield equal("e8", f"{what}, largest", max(ratios), 1, 1e-12)
    shares = [
        np.abs(each / (norm / r) - 1).max()
        for (r, _), each, norm in zip(ends, scores, nuclear, strict=True)
    ]
    what = f"{len(ends)} global optima, ‖u_i‖ = ‖v_i‖: largest relative error of ‖u_i‖² = tr(Σ)/r"
    yield equal("theorem_3_4_proof", what, max(shares), 0, PRODUCT, CHARITABLE)


def nuclear_norm(u: Matrix, v: Matrix) -> float:
    """Nuclear norm ‖UV'‖_*."""
    return float(np.linalg.norm(u @ v.T, "nuc"))


def jointly_equalised(rng: np.random.Generator) -> Iterator[tuple[Matrix, Matrix]]:
    """Random networks with ‖u_i‖‖v_i‖ = 1 for all i, which is all the definition asks."""
    for r in WIDTHS:
        for _ in range(PAIRS):
            u, v = (rng.normal(size=(rows, r)) for rows in (ROWS, COLUMNS))
            yield u / importance(u, v), v


def _least(case: Case) -> float:
    return optimal_value(case.m, case.r, case.lam)


def _contribution_1(cases: list[Case], rng: np.random.Generator) -> Iterator[Check]:
    ratios = [
        least / path_regulariser(case.best.u, case.best.v)
        for case in cases
        for least in least_path_regularisers(case.best.u @ case.best.v.T, case.r, rng)
    ]
    what = (
        f"least ψ₂ of {len(ratios)} families of factorisations of the optimal UV' / the optimum's"
    )
    yield equal("contribution_1", f"{what}, smallest", min(ratios), 1, PRODUCT)
    yield equal("contribution_1", f"{what}, largest", max(ratios), 1, PRODUCT)


def least_path_regularisers(product: Matrix, r: int, rng: np.random.Generator) -> Iterator[float]:
    """Least ψ₂ over (U, V) with UV' = product, found by L-BFGS in every family of such (U, V)."""
    left, values, right = np.linalg.svd(product)
    rank = int(np.count_nonzero(values > ZERO * values[0]))
    p, q = (np.sqrt(values[:rank]) * side for side in (left[:, :rank], right[:rank].T))
    for shared in range(r - rank + 1):
        yield _least_path_regulariser(p, q, (shared, r - rank - shared), rng)


def _least_path_regulariser(
    p: Matrix, q: Matrix, widths: tuple[int, int], rng: np.random.Generator
) -> float:
    """Least ψ₂ in the family whose X and Y have the given numbers of columns."""
    rank = p.shape[1]
    r = rank + sum(widths)
    u_nodes = slice(rank, rank + widths[0])
    v_nodes = slice(rank + widths[0], r)
    sizes = np.cumsum((r * r, len(p) * widths[0], len(q) * widths[1]))

    def value_and_slope(flat: Vector) -> tuple[float, Vector]:
        mix, x, y = np.split(flat, sizes[:-1])
        mix = mix.reshape(r, r)
        back = np.linalg.inv(mix).T
        for_u, for_v = np.zeros((len(p), r)), np.zeros((len(q), r))
        for_u[:, :rank], for_u[:, u_nodes] = p, x.reshape(len(p), -1)
        for_v[:, :rank], for_v[:, v_nodes] = q, y.reshape(len(q), -1)
        u, v = for_u @ mix, for_v @ back
        by_u, by_v = 2 * u * squared_norms(v), 2 * v * squared_norms(u)
        by_mix = for_u.T @ by_u - back @ (for_v.T @ by_v).T @ back
        by_x, by_y = (by_u @ mix.T)[:, u_nodes], (by_v @ back.T)[:, v_nodes]
        slope = np.concatenate([part.ravel() for part in (by_mix, by_x, by_y)])
        return float(squared_norms(u) @ squared_norms(v)), slope

    return float(np.sqrt(descents(value_and_slope, sizes[-1], PATH_STARTS, rng)[0][0]))


def _contribution_2(rng: np.random.Generator) -> Iterator[Check]:
    """Checks that the conditions of Theorems 2.3, 2.4, 3.4 and 3.6 suffice."""
    problems = [(rng.normal(size=(ROWS, COLUMNS)), lam) for lam in LAMBDAS for _ in range(REPEATS)]
    what = f"{len(problems)} weights that meet the conditions: |f / least − 1|"
    free, tied = (
        max(abs(excess(m, lam, rng)) for m, lam in problems) for excess in (_excess, _tied_excess)
    )
    yield equal("contribution_2", what, free, 0, VALUE)
    yield equal("contribution_2", f"tied weights, {what}", tied, 0, VALUE)


def _excess(m: Matrix, lam: float, rng: np.random.Generator) -> float:
    """Relative excess of f at random jointly equalised factors with R = (λ/r)‖UV'‖_*²."""
    q, scale = random_equalizer(rng), rng.uniform(0.5, 2, NODES)
    u, v = (side @ q for side in _balanced(top_singular(m, NODES), lam))
    return objective(m, u * scale, v / scale, lam) / optimal_value(m, NODES, lam) - 1


def _tied_excess(m: Matrix, lam: float, rng: np.random.Generator) -> float:
    """Relative excess of f at an equalised U with R = (λ/r)‖U‖⁴ (tied weights)."""
    square = m.T @ m
    u = _balanced(top_eigen(square, NODES), lam)[0] @ random_equalizer(rng)
    return objective(square, u, u, lam) / tied_optimal_value(square, NODES, lam) - 1


def _balanced(spectrum: Spectrum, lam: float) -> tuple[Matrix, Matrix]:
    """Factors of the shrunk matrix with diagonal Gram matrices."""
    left, values, right = spectrum
    kept = shrunk(values, NODES, lam)
    return left * np.sqrt(kept), right * np.sqrt(kept)


def random_equalizer(rng: np.random.Generator) -> Matrix:
    """A random rotation that equalises every matrix with orthogonal columns (Remark 5.2).

    The order of its rows and the signs of its columns are random.
    """
    signs = rng.choice((-1.0, 1.0), NODES)
    return np.asarray((universal_equalizer(NODES) * signs)[rng.permutation(NODES)])


def _remark_3_5(cases: list[Case]) -> Iterator[Check]:
    """Checks of the optimum's rank by λ, where r is at least the rank of M."""
    products = [case.best.u @ case.best.v.T for case in cases if case.r == max(WIDTHS)]
    ranks = [int(np.linalg.matrix_rank(product, rtol=ZERO)) for product in products]
    rise = max(np.diff(ranks))
    yield at_most("remark_3_5", "largest rise of the optimum's rank with λ", rise, 0)
    what = "ranks that the optimum loses from the smallest λ to the largest"
    yield at_least("remark_3_5", what, ranks[0] - ranks[-1], 1)
    yield at_most("remark_3_5", "rank of the optimum at the largest λ, M's being 5", ranks[-1], 4)
