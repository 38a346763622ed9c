"""Results of the experiments of Steck 2020 as they might be if all that it says held."""

import numpy as np
import pandas as pd
import yaml

from lindrop.base.stopwatch import Cost
from lindrop.models import tuning
from lindrop.papers.steck2020.datasets import (
    Dataset,
    dataset_checks,
    published_sets,
    split_checks,
)
from lindrop.papers.steck2020.figures.embeddings import PARTS
from lindrop.papers.steck2020.figures.fig1_center import cosine_checks
from lindrop.papers.steck2020.figures.fig1_left import rank_checks
from lindrop.papers.steck2020.models import DEEP
from lindrop.papers.steck2020.popular import CONSTRAINED, EMPHASISED, NONE, PLAIN
from lindrop.papers.steck2020.section_6 import ROWS, SPREADING, popular_checks, table1_checks
from lindrop.ranking.metrics import DEFAULT as METRICS
from support.repository import REPOSITORY

PAPER_VALUES = REPOSITORY / "config" / "paper_values"
PUBLISHED_TABLE = yaml.safe_load((PAPER_VALUES / "steck2020_table1.yaml").read_text())
USERS = 50  # of a fabricated result
ONE = Dataset("one", "other")
NETFLIX = Dataset("net", "published", "Netflix")
MSD = Dataset("msd", "published", "MSD")
RANKS = [10, 100, 1_000, 17_769]
LEFT = {  # nDCG@100 as it might be in the paper's figure
    "edlae": [0.30, 0.36, 0.392, 0.393],
    "zero_diagonal_l2": [0.25, 0.355, 0.3915, 0.3925],
    "product_l2": [0.298, 0.354, 0.369, 0.370],
    "dropout_l2": [0.30, 0.36, 0.384, 0.385],
}
AT_1000 = {"edlae": 0.392, "product_l2": 0.369}  # rows 5 and 2 as the table might print them
NDCG = dict(zip(ROWS, [0.357, 0.369, 0.384, 0.383, 0.394], strict=True))
STDERR = 0.001
PROPERTIES = {"duplicate_rows": 0, "items": 17_769, "users": 463_435, "interactions": 56_880_037}
PRINTED_PROPERTIES = {
    "paper_items": "17,769", "paper_users": "463,435", "paper_interactions": "57 mil.",
}  # fmt: skip
COSINES = "all pairs", "similar items"


def fabricated(seed, rank=150, edge="", converged=True, nan=0):
    """A tested model with random metrics, NaN for the first `nan` users."""
    per_user = np.random.default_rng(seed).random((USERS, len(METRICS)))
    per_user[:nan] = np.nan
    point, cost = {"p": 0.35, "lambda": 100.0}, Cost(1234.56, 789.4)
    table = pd.DataFrame(per_user, columns=METRICS)
    return tuning.Tested(rank, point, edge, converged, table, cost)


def of(claim, checks):
    """The checks of a claim, of which there must be at least one."""
    found = [check for check in checks if check.claim == claim]
    assert found, claim
    return found


def failing(checks):
    """Claims with a check that does not hold."""
    return {check.claim for check in checks if not check.holds}


def left(changes=(), lead_stderr=1e-5):
    """The data of Figure 1, left; a change is a curve, the place of a rank and a value."""
    points = {curve: list(values) for curve, values in LEFT.items()}
    for curve, at, value in changes:
        points[curve][at] = value
    return pd.DataFrame(
        {
            "curve": curve,
            "rank": rank,
            "full_rank": rank == RANKS[-1],
            "mean": mean,
            "stderr": 1e-3,
            "lead_stderr": lead_stderr,
            "free_stderr": lead_stderr,
            "users": 400,
            "converged": True,
        }
        for curve, values in points.items()
        for rank, mean in zip(RANKS, values, strict=True)
    )


def table(changes=(), printed=True):
    """The data of Table 1, with other means for the models in `changes`."""
    means = NDCG | dict(changes)
    rows = [
        {"model": model, "row": str(row), "metric": metric, "mean": mean, "stderr": STDERR}
        | {"paper": NDCG[model] if printed else np.nan}
        for row, (model, mean) in enumerate(means.items(), 1)
        for metric in METRICS
    ]
    reprinted = [
        {"model": model, "row": "baseline", "metric": metric, "paper": 0.386 if printed else np.nan}
        for model in [*DEEP, "slim"]
        for metric in METRICS
    ]
    return pd.DataFrame([*rows, *reprinted])


def better_by(gain, restless=()):
    """200 users; EDLAE is better by `gain` on average; `restless` models have not converged."""
    rng = np.random.default_rng(0)
    base = rng.random((200, len(METRICS)))
    noise = rng.normal(0, 0.01, base.shape)
    better = base + gain + noise - noise.mean(axis=0)
    results = dict.fromkeys(ROWS, base) | {"edlae": better}
    cost = Cost(1.0, 100.0)
    return {
        model: tuning.Tested(
            9, {}, "", model not in restless, pd.DataFrame(values, columns=METRICS), cost
        )
        for model, values in results.items()
    }


def accuracy(changes=(), gain=0.01, dataset=NETFLIX, stderr=STDERR, restless=()):
    """The checks of Table 1."""
    rows = {model: [value] * 3 for model, value in NDCG.items()}
    printed = {"stderr": stderr, "rows": rows} if dataset.paper else None
    tested = better_by(gain, restless)
    return table1_checks(dataset, table(changes, bool(printed)), tested, printed)


def cosines(encoder, decoder):
    """The data of Figure 1, center: median cosines at each rank."""
    return pd.DataFrame({"gauge": "balanced", "median_encoder": encoder, "median_decoder": decoder})


def popular(changes=()):
    """Numbers of the small experiments as they might be if all that the paper says held."""
    values = {
        **{(of, model, part): 0.3 for of in COSINES for model in SPREADING for part in PARTS},
        **{(of, NONE, part): 0.4 for of in COSINES for part in PARTS},
        ("iterations", CONSTRAINED, ""): 36,
        ("diagonal", EMPHASISED, ""): 0.05,
        ("diagonal", PLAIN, ""): 0.2,
        ("below full rank", EMPHASISED, ""): 1.0,
        ("identity", "full rank", "tiny λ"): 0.99,
        ("training error", "full rank", "chosen λ"): 0.3,
        ("training error", "full rank", "tiny λ"): 0.01,
        ("loss in paired errors", "full rank", ""): -7,
    } | dict(changes)
    return pd.DataFrame(
        [(*key, value, 10, 200) for key, value in values.items()],
        columns=["quantity", "model", "part", "value", "rank", "items"],
    )


def experiments():
    """Every check of the experiments, of results as they might be in the paper."""
    free = cosines([0.5] * 4, [0.6] * 4)
    return [
        published_sets([NETFLIX], 3),
        *rank_checks(NETFLIX, left(), AT_1000),
        *rank_checks(MSD, left()),
        *accuracy(),
        *popular_checks(NETFLIX, popular()),
        *cosine_checks(NETFLIX, cosines([0.05, 0.2, 0.2, 0.2], [0.3] * 4), free),
        *dataset_checks(NETFLIX, PROPERTIES | PRINTED_PROPERTIES, 0),
        *split_checks(NETFLIX, "", {}),
    ]
