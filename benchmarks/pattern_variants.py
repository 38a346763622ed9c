"""What was tried beside models on a pattern: accuracy at equal bytes.

    python benchmarks/pattern_variants.py ml-1m split.h5 [MODEL ...]
    python benchmarks/pattern_variants.py gowalla FOLDER [MODEL ...]

Every model has 100 weights per item, a pair of numbers of a low-rank model counting as one, and is
an optimum of the objective of `sparse_edlae` in its own form:

score         neighbours with the largest |G_ij - s_i s_j / n| / √(H_ii H_jj), as in sparse_edlae
cosine        neighbours with the largest G_ij / √(G_ii G_jj)
correlation   neighbours with the largest |G_ij - s_i s_j / n| / √(G_ii G_jj)
condition     neighbours with the largest G_ij / G_ii, the share of the users of i who have j
dense B       neighbours with the largest |B_ij| of the dense EDLAE, up to 5,000 items
k by users    the score; the number of neighbours of an item grows as the root of that of its users
k by score    the score; its largest values among all pairs of items
low rank R    B = off(UV') + S with rank R and S on the neighbours of the score, as in hybrid_edlae

U, V and S are found in turns: V and S exactly, U by a preconditioned step of the best length. The
validation users choose λ from `RIDGES` with p = 0.5, then p from `DROPOUTS`; Gowalla, which has
none, has the options of sparse_models.py. `apart` is the difference in nDCG@100 from `score` over
the test users, at most 5,000 of them, and `stderr` its paired standard error. X'X is a dense matrix
here. Replaces the rows of these models and the set in benchmarks/results/pattern_variants.csv.
"""

import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numba import njit, prange
from scipy.sparse.linalg import svds
from sparse_models import GOWALLA, gowalla

from lindrop.models.base import dropout_penalty
from lindrop.models.pattern.columns import solve, workspace
from lindrop.ranking.evaluation import evaluate

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "pattern_variants.csv"
METRIC = "ndcg@100"
WEIGHTS = 100  # per item
RIDGES, DROPOUTS = [10.0, 30.0, 100.0, 300.0], [0.35, 0.65, 0.8]
WAYS = ["score", "cosine", "correlation", "condition", "k by users", "k by score"]
WAYS += ["dense B", "low rank 10", "low rank 25", "low rank 50"]
TURNS = 8  # of U, V and S
STEPS = 10  # of conjugate gradients, for the direction of U
COLUMNS = 1024  # whose V is found at once
TESTED = 5_000
DENSE = 5_000  # items up to which the dense B is computed
_solve, _workspace = solve._dispatcher(), workspace._dispatcher()  # type: ignore[attr-defined]


class Pattern(NamedTuple):
    """Neighbours of all items; those of item j begin at first[j]."""

    first: Any
    neighbours: Any

    def matrix(self, weights: Any) -> sp.csr_array:
        """The matrix whose columns have these weights."""
        m = len(self.first) - 1
        return sp.csc_array((weights, self.neighbours, self.first), shape=(m, m)).tocsr()

    def sums(self, values: Any) -> Any:
        """Sum of the values of each column."""
        return np.add.reduceat(np.append(values, 0.0), self.first[:-1]) * (np.diff(self.first) > 0)


class Gram(NamedTuple):
    """X'X and the penalty of H = X'X + Λ̃."""

    x: sp.csr_array
    g: Any
    diagonal: Any
    penalty: Any

    def times(self, b: Any) -> Any:
        """H times a matrix with few columns."""
        return self.x.T @ (self.x @ b) + self.penalty[:, None] * b

    def solved(self, b: Any) -> Any:
        """An approximation of H⁻¹ b, by conjugate gradients."""
        scale = (self.diagonal + self.penalty)[:, None]
        x, r = np.zeros_like(b), b.copy()
        z = r / scale
        direction, rz = z, (r * z).sum(0)
        for _ in range(STEPS):
            h_direction = self.times(direction)
            step = rz / np.maximum((direction * h_direction).sum(0), 1e-30)
            x, r = x + step * direction, r - step * h_direction
            z = r / scale
            new = (r * z).sum(0)
            direction, rz = z + new / np.maximum(rz, 1e-30) * direction, new
        return x


@njit(parallel=True)  # type: ignore[untyped-decorator]
def best(g: Any, mean: Any, scale: Any, sizes: Any) -> Any:
    """The items i with the largest |G_ij - mean_i mean_j| scale_i of every column j, and these.

    `sizes` says how many there are.
    """
    m = len(sizes)
    first = np.zeros(m + 1, np.int64)
    first[1:] = np.cumsum(sizes)
    found, values = np.empty(first[-1], np.int32), np.empty(first[-1])
    for j in prange(m):
        scores = np.empty(m)
        for i in range(m):
            scores[i] = abs(g[j, i] - mean[i] * mean[j]) * scale[i]
        scores[j] = -1.0
        k = sizes[j]
        least = np.partition(scores, m - k)[m - k]
        place, end = first[j], first[j + 1]
        for strictly in (True, False):
            for i in range(m):
                if place < end and (scores[i] > least if strictly else scores[i] == least):
                    found[place], values[place] = i, scores[i] * scale[j]
                    place += 1
    return first, found, values


@njit(parallel=True)  # type: ignore[untyped-decorator]
def solved_columns(g: Any, diagonal: Any, first: Any, neighbours: Any, right: Any) -> Any:
    """H_NN⁻¹ times the right sides, for all columns. `diagonal` is that of H."""
    weights = np.zeros(len(neighbours))
    for j in prange(len(first) - 1):
        own = neighbours[first[j] : first[j + 1]]
        a = _workspace(len(own))
        for row in range(len(own)):
            a[row, row], a[row, len(own)] = diagonal[own[row]], right[first[j] + row]
            for column in range(row + 1, len(own)):
                a[row, column] = g[own[row], own[column]]
        _solve(a, len(own), weights[first[j] : first[j + 1]])
    return weights


@njit(parallel=True)  # type: ignore[untyped-decorator]
def on_pattern(g: Any, first: Any, neighbours: Any, left: Any, right: Any, factor: Any) -> Any:
    """G_ij factor_j - left_i · right_j for the neighbours i of all items j."""
    found = np.empty(len(neighbours))
    for j in prange(len(first) - 1):
        for place in range(first[j], first[j + 1]):
            i = neighbours[place]
            found[place] = g[i, j] * factor[j] - (left[i] * right[j]).sum()
    return found


class Sum(NamedTuple):
    """Model UV' + S. The diagonal of UV' changes the scores of items that are not ranked alone."""

    u: Any
    v: Any
    s: sp.csr_array

    def scores(self, x: sp.csr_array) -> Any:
        return (x @ self.u) @ self.v.T + (x @ self.s).toarray()


def chosen(gram: Gram, way: str, k: int) -> Pattern:
    """k neighbours of every item, on average."""
    m, users = gram.x.shape[1], max(np.count_nonzero(np.diff(gram.x.indptr)), 1)
    own = np.maximum(gram.diagonal, 1e-30)
    mean = gram.diagonal / np.sqrt(users) * (way not in ("cosine", "condition", "dense B"))
    scale = 1.0 / np.sqrt(own + gram.penalty * (way not in ("cosine", "correlation")))
    scale[gram.diagonal == 0] = 0.0
    sizes = np.full(m, min(k, m - 1))
    if way == "condition":
        scale = (gram.diagonal > 0) / own
    if way == "k by users":
        root = np.sqrt(gram.diagonal + 1.0)
        sizes = np.clip((root * k * m / root.sum()).astype(int), 1, m - 1)
    if way == "k by score":
        sizes = np.full(m, min(4 * k, m - 1))
    if way == "dense B":
        inverse = np.linalg.inv(gram.g + np.diag(gram.penalty))
        first, found, _ = best(inverse, np.zeros(m), np.ones(m), sizes)
        return Pattern(first, found)
    first, found, values = best(gram.g, mean, scale, sizes)
    if way == "k by score":
        least = np.partition(values, -k * m)[-k * m]
        kept = values >= least
        columns = np.repeat(np.arange(m), sizes)[kept]
        first = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=m))])
        found = found[kept]
    return Pattern(first, found)


def on_its_own(gram: Gram, pattern: Pattern) -> Sum:
    """The optimum on a pattern."""
    m, nothing = gram.x.shape[1], np.zeros((gram.x.shape[1], 1))
    right = on_pattern(gram.g, *pattern, nothing, nothing, np.ones(m))
    weights = solved_columns(gram.g, gram.diagonal + gram.penalty, *pattern, right)
    return Sum(nothing, nothing, pattern.matrix(weights))


def with_low_rank(gram: Gram, pattern: Pattern, rank: int, turns: int = TURNS) -> Sum:
    """off(UV') + S, from the spectrum and S = 0."""
    m, h = gram.x.shape[1], gram.diagonal + gram.penalty
    nothing = np.zeros((m, 1))
    on_g = on_pattern(gram.g, *pattern, nothing, nothing, np.ones(m))
    start = np.random.default_rng(0).standard_normal(min(gram.x.shape))
    v = np.ascontiguousarray(svds(gram.x.astype(float), rank, v0=start)[2].T)
    u, weights = v - gram.solved(gram.penalty[:, None] * v), np.zeros(len(on_g))
    for turn in range(turns + 1):
        hu, s = gram.times(u), pattern.matrix(weights)
        v = best_decoder(u, hu, h, s.T @ hu, pattern.sums(on_g * weights))
        d = (u * v).sum(1)
        right = on_pattern(gram.g, *pattern, hu, v, 1.0 + d)
        weights = solved_columns(gram.g, h, *pattern, right)
        if turn == turns:
            break
        s = pattern.matrix(weights)
        change = (hu * v).sum(1) - h * d + pattern.sums(on_g * weights) - gram.diagonal
        b_v = u @ (v.T @ v) - d[:, None] * v + s @ v
        slope = gram.times(b_v - v) + (gram.penalty - change)[:, None] * v  # off(HB - G) V
        step = -np.linalg.solve(v.T @ v, gram.solved(slope).T).T
        h_step, own = gram.times(step), (step * v).sum(1)
        curvature = ((step.T @ h_step) * (v.T @ v)).sum() + (h * own**2).sum()
        curvature -= 2 * (own * (h_step * v).sum(1)).sum()
        u = u - (slope * step).sum() / curvature * step
    return Sum(u, v, pattern.matrix(weights))


def best_decoder(u: Any, hu: Any, h: Any, hu_s: Any, g_s: Any) -> Any:
    """The V that is best for U and S: rows v_j = (U'HU without row j of U)⁻¹ U'(G_j - H s_j)."""
    v, whole = np.empty_like(u), u.T @ hu
    right = hu - hu_s + (g_s - h)[:, None] * u
    for start in range(0, len(u), COLUMNS):
        part = slice(start, start + COLUMNS)
        both = u[part, :, None] * hu[part, None, :]
        own = h[part, None, None] * u[part, :, None] * u[part, None, :]
        systems = whole - both - both.transpose(0, 2, 1) + own
        v[part] = np.linalg.solve(systems, right[part, :, None])[:, :, 0]
    return v


def fitted(x: sp.csr_array, g: Any, way: str, p: float, ridge: float) -> Sum:
    """One model."""
    diagonal = np.asarray(x.sum(0), float).ravel()  # entries are 1
    gram = Gram(x, g, diagonal, dropout_penalty(diagonal, p, ridge))
    rank = int(way.split()[-1]) if way.startswith("low rank") else 0
    pattern = chosen(gram, "score" if rank else way, WEIGHTS - rank)
    return with_low_rank(gram, pattern, rank) if rank else on_its_own(gram, pattern)


def gram_of(x: sp.csr_array) -> Any:
    """X'X, dense, of a type that is small for many items."""
    return (x.T @ x).astype(np.uint16 if x.shape[1] > DENSE else np.float32).toarray()


def tuned(x: sp.csr_array, g: Any, way: str, users: Any) -> dict[str, float]:
    """p and λ by which the validation users are served best."""
    best_, options = -1.0, {"p": 0.5, "ridge": RIDGES[0]}
    tried = [{"ridge": ridge} for ridge in RIDGES] + [{"p": p} for p in DROPOUTS]
    for change in tried:
        asked = options | change
        judged = evaluate(fitted(x, g, way, **asked), *users, [METRIC]).per_user[METRIC].mean()
        print(way, asked, round(float(judged), 5), flush=True)
        if judged > best_:
            best_, options = judged, asked
    return options


def compared(name: str, parts: Any, users: Any, ways: list[str]) -> None:
    """Rows of these models, beside the first one."""
    x, known, held_out = (sp.csr_array(part) for part in parts)
    g, reference = gram_of(x), None
    for way in ways:
        if way == "dense B" and x.shape[1] > DENSE:
            continue
        options = tuned(x, g, way, users) if users else GOWALLA
        start = time.process_time()
        model = fitted(x, g, way, **options)
        seconds = time.process_time() - start
        found = evaluate(model, known[:TESTED], held_out[:TESTED], [METRIC]).per_user[METRIC]
        reference = found if reference is None else reference
        apart = (found - reference).dropna()
        row = {"set": name, "items": x.shape[1], "model": way, **options}
        row |= {"processor seconds": round(seconds, 1), METRIC: round(float(found.mean()), 5)}
        if way != ways[0]:
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            row |= {"apart": round(float(apart.mean()), 5), "stderr": round(float(error), 5)}
        print(row, flush=True)
        keep(row)


def keep(row: dict[str, Any]) -> None:
    """Write a row in the place of an earlier one of the same set and model."""
    found, keys = pd.DataFrame([row]), ["set", "model"]
    if OUTPUT.exists():
        earlier = pd.read_csv(OUTPUT)
        same = (earlier[keys] == found[keys].iloc[0]).all(axis=1)
        found = pd.concat([earlier[~same], found], ignore_index=True)
    found.to_csv(OUTPUT, index=False)


def main(name: str, place: str, *asked: str) -> None:
    users = None
    if name == "gowalla":
        parts: Any = gowalla(place)
    else:
        from lindrop.store.split import read_split_matrix

        pair = ("fold_in", "held_out")
        parts = [read_split_matrix(place, f) for f in ("train", *(f"test/{x}" for x in pair))]
        users = [read_split_matrix(place, f"validation/{part}") for part in pair]
    compared(name, parts, users, ["score", *asked] if asked else WAYS)


if __name__ == "__main__":
    main(*sys.argv[1:])
