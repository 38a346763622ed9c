"""Does the demo dataset separate the models of Steck 2020?

    PYTHONPATH=workflow python benchmarks/calibrate_synthetic.py 1 2 3 4 5

For every seed named: make the demo set, split it by the protocol, tune every model on the
validation users by nDCG@100, and write test metrics and paired differences to
benchmarks/results/synthetic_calibration.csv. The models are dense float64 transcriptions of the
closed forms, good for a thousand items: a check of the data, not the library's models.
"""

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.linalg as sl

from lindrop.data.split import Protocol, Split, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "synthetic_calibration.csv"
RANK = 150
SWEEPS = 5
METRICS = ("ndcg100", "recall20", "recall50")
DECAY = (500, 1000, 2000, 3000, 4000, 6000, 8000)
RIDGE = (2000, 4000, 6000, 9000, 12000, 18000, 24000)
P = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8)
LAMBDA = (0, 30, 100, 300, 1000, 3000)
BOTH = list(itertools.product(P, LAMBDA))
# model: its grid of (p, λ), and the model that it has to beat
MODELS = {
    "weight decay": ([(0.0, each) for each in DECAY], None),
    "product L2": ([(0.0, each) for each in RIDGE], "weight decay"),
    "DLAE": (BOTH, "product L2"),
    "EDLAE": (BOTH, "DLAE"),
    "full-rank DLAE": (BOTH, None),
    "full-rank EDLAE": (BOTH, "full-rank DLAE"),
}


class Evaluation:
    """Ranking metrics per held-out user (docs/protocol.md), from dense matrices."""

    def __init__(self, parts: Split, part: str):
        self.input = parts.matrix(f"{part}/fold_in").toarray()
        self.relevant = parts.matrix(f"{part}/held_out").toarray() > 0
        self.count = self.relevant.sum(axis=1)
        self.discount = 1.0 / np.log2(np.arange(2, 102))
        self.ideal = np.cumsum(self.discount)[np.minimum(self.count, 100) - 1]

    def __call__(self, b: np.ndarray) -> np.ndarray:
        """Users × (nDCG@100, Recall@20, Recall@50) of the item-item matrix `b`."""
        score = self.input @ b.astype(np.float32)
        score[self.input > 0] = -np.inf
        top = np.argpartition(-score, 100, axis=1)[:, :100]
        order = np.argsort(-np.take_along_axis(score, top, axis=1), axis=1)
        hit = np.take_along_axis(self.relevant, np.take_along_axis(top, order, axis=1), axis=1)
        recall = [hit[:, :k].sum(axis=1) / np.minimum(self.count, k) for k in (20, 50)]
        return np.stack([(hit * self.discount).sum(axis=1) / self.ideal, *recall], axis=1)


@dataclass(frozen=True)
class Dropout:
    """What all models with dropout p and ridge λ share: Λ̃ (its diagonal), H = G + Λ̃, C = H⁻¹."""

    gram: np.ndarray
    p: float
    ridge: float

    @cached_property
    def penalty(self):
        return self.p / (1.0 - self.p) * np.diag(self.gram) + self.ridge

    @cached_property
    def h(self):
        return self.gram + np.diag(self.penalty)

    @cached_property
    def inverse(self):
        inverse = sl.cho_solve(sl.cho_factor(self.h), np.eye(len(self.gram)))
        return 0.5 * (inverse + inverse.T)

    @cached_property
    def full_dlae(self):
        """C G = I - C Λ̃ (Eq. 5)."""
        return np.eye(len(self.gram)) - self.inverse * self.penalty

    @property
    def full_edlae(self):
        """Eq. 8 and 9."""
        return np.eye(len(self.gram)) - self.inverse / np.diag(self.inverse)

    def factors(self):
        """U, V of the low-rank DLAE: C G E and E, the top eigenvectors of G C G."""
        m = len(self.gram)
        target = self.penalty[:, None] * self.inverse * self.penalty
        target += self.gram - np.diag(self.penalty)
        vectors = sl.eigh(target, subset_by_index=(m - RANK, m - 1))[1]
        return self.full_dlae @ vectors, vectors

    def low_rank_dlae(self):
        u, v = self.factors()
        return u @ v.T

    def low_rank_edlae(self):
        """Eq. 10 by exact alternating least squares from the low-rank DLAE."""
        u = self.factors()[0]
        v = self.v_step(u)
        for _ in range(SWEEPS - 1):
            u = self.u_step(v)
            v = self.v_step(u)
        return u @ v.T

    def v_step(self, u):
        """Every row v_i by a rank-2 update of the inverse of S = U'HU."""
        hu = self.h @ u
        residual = hu - (self.penalty + np.diag(self.gram))[:, None] * u  # (GU)_i - G_ii u_i
        s_inverse = np.linalg.inv(u.T @ hu)
        su, sh, sr = u @ s_inverse, hu @ s_inverse, residual @ s_inverse
        middle = np.empty((len(u), 2, 2))
        middle[:, 0, 0] = (u * su).sum(axis=1)
        middle[:, 0, 1] = middle[:, 1, 0] = (u * sh).sum(axis=1) - 1.0
        middle[:, 1, 1] = (hu * sh).sum(axis=1) - np.diag(self.h)
        right = np.stack([(u * sr).sum(axis=1), (hu * sr).sum(axis=1)], axis=1)
        z = np.linalg.solve(middle, right[:, :, None])[:, :, 0]
        return sr - su * z[:, :1] - sh * z[:, 1:]

    def u_step(self, v):
        """The exact U for a given V: a dense solve of its 2m × 2m saddle system."""
        m = len(v)
        dual = v @ np.linalg.inv(v.T @ v)
        k = dual @ v.T
        d = np.diag(1.0 - np.diag(k))
        system = np.block([[self.h * (np.eye(m) - k), d], [d, -self.inverse * k]])
        right = np.concatenate(
            [
                (self.gram * k).sum(axis=1) - np.diag(self.gram),
                (self.full_dlae * k.T).sum(axis=1),
            ]
        )
        x = np.linalg.solve(system, right)
        return x[:m, None] * dual + self.full_dlae @ dual + self.inverse @ (x[m:, None] * dual)


def fitters(gram: np.ndarray) -> dict[str, Callable[[float, float], np.ndarray]]:
    """Item-item matrix of each model for given p and λ."""
    value, vector = np.linalg.eigh(gram)
    s, v = value[::-1][:RANK], vector[:, ::-1][:, :RANK]
    return {
        "weight decay": lambda p, ridge: (v * np.maximum(1.0 - ridge / s, 0.0)) @ v.T,
        "product L2": lambda p, ridge: (v * (s / (s + ridge))) @ v.T,
        "DLAE": lambda p, ridge: Dropout(gram, p, ridge).low_rank_dlae(),
        "EDLAE": lambda p, ridge: Dropout(gram, p, ridge).low_rank_edlae(),
        "full-rank DLAE": lambda p, ridge: Dropout(gram, p, ridge).full_dlae,
        "full-rank EDLAE": lambda p, ridge: Dropout(gram, p, ridge).full_edlae,
    }


def demo(seed: int) -> tuple[np.ndarray, Callable, Callable]:
    """Gram matrix of the training users, and the two evaluations."""
    parts = split(synthetic_interactions(PRESETS["demo"], seed), Protocol(10_000))
    train = parts.matrix("train").toarray()
    gram = (train.T @ train).astype(np.float64)
    return gram, Evaluation(parts, "validation"), Evaluation(parts, "test")


def paired(better: np.ndarray, worse: np.ndarray) -> tuple[float, float]:
    """Mean difference of nDCG@100 over users, and its standard error."""
    difference = (better - worse)[:, 0]
    return difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))


def calibrate(seed: int) -> pd.DataFrame:
    gram, validation, test = demo(seed)
    rows, per_user = [], {}
    for (name, (grid, rival)), fit in zip(MODELS.items(), fitters(gram).values(), strict=True):
        score = {point: validation(fit(*point))[:, 0].mean() for point in grid}
        p, ridge = max(score, key=score.__getitem__)
        per_user[name] = test(fit(p, ridge))
        row = {"seed": seed, "model": name, "p": p, "lambda": ridge}
        row |= dict(zip(METRICS, per_user[name].mean(axis=0).round(5), strict=True))
        if rival:
            difference, error = paired(per_user[name], per_user[rival])
            row |= {"rival": rival, "ndcg100_lead": round(difference, 5), "se": round(error, 5)}
        on_edge = [
            value > 0 and value in (min(axis), max(axis))  # 0 is no edge: λ cannot be less
            for value, axis in zip((p, ridge), zip(*grid, strict=True), strict=True)
        ]
        rows.append(row | {"on_edge": any(on_edge)})
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def main(seeds: list[int]) -> None:
    result = pd.concat(map(calibrate, seeds))
    OUTPUT.parent.mkdir(exist_ok=True)
    result.to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]] or [1])
