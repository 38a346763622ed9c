"""Mianjy 2018, Theorem 2.2, Algorithm 2 (EQZ) and Section 4.1: rotations towards equal norms."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import block_diag, null_space

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import CHARITABLE, Check, at_least, equal
from lindrop.dropout.equalise import equalizer
from lindrop.dropout.multistart import tied_minima
from lindrop.dropout.objective import squared_norms
from lindrop.papers.mianjy2018.problems import PRODUCT, spread

SHAPES = (1, 2), (5, 3), (3, 7), (40, 20), (60, 80)  # pairs of d and r
SIZES = 2, 3, 5, 8
REPEATS = 20
SMALL = 0.01, 0.001  # small values of λ
TURN = 1e-3  # size of δ in Lemma D.2's rotation


def checks(seed: int) -> list[Check]:
    """Checks of Theorem 2.2, Algorithm 2, Claim 1 and Section 4.1."""
    weights, matrices, pairs, descent = np.random.default_rng(seed).spawn(4)
    return [
        *_theorem_2_2(weights),
        *_algorithm_2(weights),
        *_claim_1(matrices),
        *_section_4_1(pairs),
        _section_4_1_small(descent),
    ]


def special(d: int, r: int, rng: np.random.Generator) -> Iterator[Matrix]:
    """Weights with special Gram matrices: full rank, rank one, a single entry, a multiple of I."""
    yield rng.normal(size=(d, r))
    yield np.outer(rng.normal(size=d), rng.normal(size=r))
    alone = np.zeros((d, r))
    alone[:, 0] = rng.normal(size=d)
    yield alone
    yield np.eye(r)


def _theorem_2_2(rng: np.random.Generator) -> Iterator[Check]:
    weights = [u for shape in SHAPES for u in special(*shape, rng)]
    rotations = [equalizer(u) for u in weights]
    uneven = max(spread(squared_norms(u @ q)) for u, q in zip(weights, rotations, strict=True))
    skew = max(np.abs(q.T @ q - np.eye(len(q))).max() for q in rotations)
    what = f"EQZ on {len(weights)} matrices of up to 80 columns: largest"
    yield equal("theorem_2_2", f"{what} spread of squared column norms", uneven, 0, 1e-12)
    yield equal("theorem_2_2", f"{what} entry of Q'Q − I", skew, 0, 1e-12)


def algorithm_2(u: Matrix) -> Iterator[Matrix]:
    """Q after every step of Algorithm 2, line by line as printed, for i = 1 to r."""
    gram = u.T @ u
    r = len(gram)
    q = np.eye(r)
    for i in range(1, r + 1):
        w = sum_of_eigenvectors(gram)
        step = np.column_stack((w, null_space(w[None])))
        gram = (step.T @ gram @ step)[1:, 1:]
        q = q @ block_diag(np.eye(i - 1), step)
        yield q


def _algorithm_2(rng: np.random.Generator) -> Iterator[Check]:
    """Checks that each step of Algorithm 2 gives one more column the mean norm, r steps in all."""
    uneven, skews, unmoved = [], [], []
    for u in (rng.normal(size=(d, r)) for d, r in SHAPES):
        mean = np.sum(u**2) / u.shape[1]
        for done, q in enumerate(algorithm_2(u), 1):
            off = np.abs(squared_norms(u @ q) / mean - 1)
            uneven.append(off[:done].max())
            skews.append(np.abs(q.T @ q - np.eye(len(q))).max())
            if done < len(q) - 1:  # the last step but one makes two columns equal
                unmoved.append(off[done:].max())
    what = f"d × r = {', '.join(f'{d} × {r}' for d, r in SHAPES)}:"
    name = f"{what} after i steps, largest relative distance of ‖u_1‖² … ‖u_i‖² to the mean"
    yield equal("algorithm_2", name, max(uneven), 0, 1e-12)
    yield equal("algorithm_2", f"{what} largest entry of Q'Q − I", max(skews), 0, 1e-12)
    name = f"{what} after i ≤ r − 2 steps, largest distance of the other columns, the smallest"
    yield at_least("algorithm_2", name, min(unmoved), 1e-6)


def sum_of_eigenvectors(symmetric: Matrix) -> Vector:
    """The vector w = Σ v_i / √r of Algorithm 2 and Claim 1."""
    vectors = np.linalg.eigh(symmetric)[1]
    return np.asarray(vectors.sum(axis=1) / np.sqrt(len(vectors)))


def _claim_1(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of Claim 1: w'Gw = tr(G)/r, which is zero if tr(G) = 0.

    The comment in Algorithm 2 says zero; so it is in the proof, which subtracts tr(G)/r first.
    """
    factors = [rng.normal(size=(size + 1, size)) for size in SIZES]
    grams = [a.T @ a for a in factors]
    centred = [gram - np.trace(gram) / len(gram) * np.eye(len(gram)) for gram in grams]
    lengths = (abs(np.linalg.norm(sum_of_eigenvectors(gram)) - 1) for gram in grams)
    yield equal("claim_1", "largest distance of ‖w‖ to 1", max(lengths), 0, 1e-12)
    of_centred = max(abs(_quotient(matrix)) for matrix in centred)
    yield equal("claim_1", "tr(G) = 0: largest |w'Gw| / ‖G‖", of_centred, 0, 1e-12)
    of_mean = max(
        abs(_quotient(gram) - np.trace(gram) / len(gram) / np.linalg.norm(gram)) for gram in grams
    )
    what = "Gram matrices: largest distance, over ‖G‖, of w'Gw to"
    yield equal("claim_1", f"{what} tr(G)/r", of_mean, 0, 1e-12)
    of_zero = max(_quotient(gram) for gram in grams)
    yield equal("algorithm_2_comment", f"{what} zero", of_zero, 0, 1e-12)
    what = "Gram matrices less the mean of their diagonals: largest |w'Gw| / ‖G‖"
    yield equal("algorithm_2_comment", what, of_centred, 0, 1e-12, CHARITABLE)


def _quotient(symmetric: Matrix) -> float:
    """The quotient w'Gw / ‖G‖."""
    w = sum_of_eigenvectors(symmetric)
    return float(w @ symmetric @ w / np.linalg.norm(symmetric))


def turned(u: Matrix, delta: float) -> Matrix:
    """UQ_δ of Lemma D.2's proof: the first two columns rotated towards each other."""
    q, cosine = np.eye(u.shape[1]), np.sqrt(1 - delta**2)
    q[:2, :2] = (cosine, -delta), (delta, cosine)
    return np.asarray(u @ q)


def lemma_d2_angle(u: Matrix) -> float:
    """The angle δ = −c·sgn(u₁'u₂) of Lemma D.2's proof.

    c is small relative to the difference of the squared norms.
    """
    longer, shorter = squared_norms(u)[:2]
    return float(-TURN * (longer - shorter) / (longer + shorter) * np.sign(u[:, 0] @ u[:, 1]))


def levelled(u: Matrix, delta: float) -> float:
    """Fall of Σ‖u_i‖⁴ by the rotation UQ_δ, over the fall by making two columns equal."""
    longer, shorter = squared_norms(u)[:2]
    before, after = squared_norms(u), squared_norms(turned(u, delta))
    return float((before @ before - after @ after) / ((longer - shorter) ** 2 / 2))


def _section_4_1(rng: np.random.Generator) -> Iterator[Check]:
    """Checks of a rotation that moves mass from the longer of two columns to the other.

    It must bring their norms nearer, leave the other columns and UU' as they are, and lower R.
    """
    weights = [u for size in SIZES for u in rng.normal(size=(REPEATS, size + 1, size))]
    ordered = [u[:, np.argsort(-squared_norms(u))] for u in weights]
    moved = [turned(u, lemma_d2_angle(u)) for u in ordered]
    pairs = list(zip(ordered, moved, strict=True))
    nearer = min(1 - _difference(after) / _difference(before) for before, after in pairs)
    others = max(np.abs((after - before)[:, 2:]).max(initial=0) for before, after in pairs)
    product = max(np.abs(after @ after.T - before @ before.T).max() for before, after in pairs)
    what = f"{len(weights)} random U, two columns turned a little:"
    name = f"{what} smallest fall of ‖u_1‖² − ‖u_2‖², relative"
    yield at_least("section_4_1", name, nearer, 1e-9)
    yield equal("section_4_1", f"{what} largest change of another column", others, 0, 0)
    yield equal("section_4_1", f"{what} largest change of UU'", product, 0, 1e-12)
    least = min(levelled(u, lemma_d2_angle(u)) for u in ordered)
    name = f"{what} smallest fall of R as a share of what equal columns save"
    yield at_least("section_4_1", name, least, 1e-9)


def _difference(u: Matrix) -> float:
    longer, shorter = squared_norms(u)[:2]
    return float(longer - shorter)


def _section_4_1_small(rng: np.random.Generator) -> Check:
    """Check that descents end at equalised weights "no matter how small the dropout rate"."""
    m = rng.normal(size=(4, 4))
    uneven = [
        spread(squared_norms(end.u))
        for lam in SMALL
        for end in tied_minima(m @ m.T, 3, lam, 4, rng)
    ]
    what = "λ = 0.01 and 0.001: largest spread of squared column norms where descents end"
    return equal("section_4_1_small", what, max(uneven), 0, 10 * PRODUCT)
