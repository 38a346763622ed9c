"""Test whether the generated demo dataset separates the models of Steck 2020.

    python benchmarks/calibrate_synthetic.py 1 2 3 4 5

For every given seed, the demo set is generated and split, and every model is tuned by nDCG@100 on
the validation users. Writes test metrics and paired differences to
benchmarks/results/synthetic_calibration.csv. This tests the generated data, not a claim of a paper.
"""

import itertools
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.data.split import Protocol, Split, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import PRESETS
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate, paired
from lindrop.ranking.metrics import CRITERION
from lindrop.ranking.metrics import DEFAULT as METRICS

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "synthetic_calibration.csv"
RANK = 150
OPTIONS: dict[str, dict[str, Any]] = {"edlae": {"solver": "als", "iterations": 5}}
DECAY = (500, 1000, 2000, 3000, 4000, 6000, 8000)
RIDGE = (2000, 4000, 6000, 9000, 12000, 18000, 24000)
P = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8)
LAMBDA = (0, 30, 100, 300, 1000, 3000)
BOTH = list(itertools.product(P, LAMBDA))
# by model: its name in the catalogue, its grid of (p, λ), and the model that it has to beat
MODELS = {
    "weight decay": ("weight_decay", [(0.0, each) for each in DECAY], None),
    "product L2": ("product_l2", [(0.0, each) for each in RIDGE], "weight decay"),
    "DLAE": ("dropout_l2", BOTH, "product L2"),
    "EDLAE": ("edlae", BOTH, "DLAE"),
    "full-rank DLAE": ("full_dlae", BOTH, None),
    "full-rank EDLAE": ("full_edlae", BOTH, "full-rank DLAE"),
}


def demo(seed: int) -> Split:
    """Split of the demo set of a seed, with 10,000 held-out users."""
    return split(synthetic_interactions(PRESETS["demo"], seed), Protocol(10_000))


def metrics(parts: Split, data: Training, name: str, point: tuple[float, float], part: str):
    """Metrics of every user of a part (users × metrics), for a model at a point (p, λ)."""
    model, grid, _ = MODELS[name]
    parameters = {"ridge": point[1]} | ({"p": point[0]} if grid is BOTH else {})
    result = fit(model, data, rank=RANK, **parameters, **OPTIONS.get(model, {}))
    users = parts.matrix(f"{part}/fold_in"), parts.matrix(f"{part}/held_out")
    return evaluate(result.model, *users).per_user


def calibrate(seed: int) -> pd.DataFrame:
    """Table of the tuned models of one seed, with test metrics and leads over their rivals."""
    parts = demo(seed)
    data = Training.of(parts.matrix("train"))
    rows, per_user = [], {}
    for name, (_, grid, rival) in MODELS.items():
        score = {
            point: metrics(parts, data, name, point, "validation")[CRITERION].mean()
            for point in grid
        }
        p, ridge = max(score, key=score.__getitem__)
        per_user[name] = metrics(parts, data, name, (p, ridge), "test")
        row = {"seed": seed, "model": name, "p": p, "lambda": ridge}
        means = per_user[name].mean(axis=0).round(5)
        row |= {metric.replace("@", ""): m for metric, m in zip(METRICS, means, strict=True)}
        if rival:
            lead = paired(per_user[name], per_user[rival]).loc["ndcg@100"].round(5)
            row |= {"rival": rival, "ndcg100_lead": lead["mean"], "se": lead["stderr"]}
        on_edge = [
            value > 0 and value in (min(axis), max(axis))  # 0 is no edge: no value is smaller
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
