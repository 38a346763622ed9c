"""Steck 2020, Figure 1 (left): the three curves of the paper, trained by the published procedures.

The paper does not say how λ was chosen at each rank. On other data than the paper's, every point is
tuned on the validation users, as for Table 1 (`procedures`); on the paper's sets the printed points
of rank 1,000 hold at every rank. The full-rank models at the ends are closed forms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from lindrop.base.reporting import Progress
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.papers.steck2020.attribution import Study
from lindrop.papers.steck2020.models import CURVES
from lindrop.papers.steck2020.procedures import CONSTRAINED, ROWS, Row, search
from lindrop.ranking.evaluation import paired, summary
from lindrop.ranking.grids import usable_ranks
from lindrop.ranking.metrics import CRITERION

TRAINED = {row.model: row for row in (ROWS[4], CONSTRAINED, ROWS[1])}
Tested = Mapping[str, pd.DataFrame]  # metrics of every test user by curve


def curves(study: Study, ranks: Sequence[int]) -> pd.DataFrame:
    """The criterion of every curve by rank, in the columns of Figure 1 (left)."""
    data, lines = study.data, []
    known = usable_ranks(ranks, min(data.x.shape))
    progress = Progress("Figure 1 as published", len(known) + 1, unit="ranks")
    for rank in known:
        at = replace(study, data=replace(data, rank=rank))
        trials = {name: at.tuned_training(row) for name, row in TRAINED.items()}
        tested = {name: study.test.per_user(trial.model) for name, trial in trials.items()}
        points = {name: trial.point._asdict() for name, trial in trials.items()}
        lines += _lines(rank, tested, points)
        progress.advance(1)
    tested, points = {}, {}
    for name, row in TRAINED.items():
        chosen = _tuned(study, row._replace(model=CURVES[name], exact=CURVES[name]))
        tested[name], points[name] = study.test.per_user(_full(study, CURVES[name], chosen)), chosen
    lines += _lines(data.x.shape[1], tested, points)
    progress.advance(1)
    return pd.DataFrame(lines)


def _lines(rank: int, tested: Tested, points: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lines of all curves at one rank."""
    found = []
    for name, per_user in tested.items():
        measured = summary(per_user).loc[CRITERION]
        lead = paired(tested["edlae"], per_user).loc[CRITERION]
        gap = paired(per_user, tested["product_l2"]).loc[CRITERION]
        full = "epochs" not in points[name]
        found.append(
            {
                "curve": name,
                "model": CURVES[name] if full else name,
                "rank": rank,
                "full_rank": full,
                "mean": measured["mean"],
                "stderr": measured["stderr"],
                "lead_stderr": lead["stderr"],
                "free_stderr": gap["stderr"],
                "users": measured["n_users"] - measured["n_nan"],
                "paper": float("nan"),
                "converged": True,  # that a training is short is part of the procedure
                **{key: points[name].get(key) for key in ("p", "ridge", "epochs")},
            }
        )
    return found


def _tuned(study: Study, row: Row) -> dict[str, float]:
    def score(p: float, ridge: float) -> float:
        return study.validation.score(_full(study, row.model, _point(row, p, ridge)))

    (p, ridge), _ = search(study.data, row, score)
    return _point(row, p, ridge)


def _point(row: Row, p: float, ridge: float) -> dict[str, float]:
    return {"ridge": ridge} if row.p is None else {"p": p, "ridge": ridge}


def _full(study: Study, model: str, point: Mapping[str, Any]) -> Any:
    return fit(model, Training(study.data.x, study.data.gram.astype), **point).model
