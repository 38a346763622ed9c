"""Mianjy 2018, simulation of Figure 3: objective and importance scores during Algorithm 1.

The paper leaves three things open, chosen here. The spectrum of M is σ_i = exp(−(i − 1)/10); its
scale affects only that of η. The start is normal, with importance scores of about ‖M‖₂ = 1, more
than at any optimum. η falls linearly to 0.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix
from lindrop.base.parallel import over_blocks
from lindrop.base.reporting import Progress
from lindrop.dropout.objective import importance, keep_of, squared_norms
from lindrop.dropout.optimum import optimal_value
from lindrop.dropout.sgd import dropout_sgd, products

OUTPUTS, INPUTS = 120, 80
DECAY = 10.0  # number of singular values over which they fall by a factor e
RATE = 0.008  # η_0; at 1.5 times this rate, some runs diverge
STEPS = 150_000
CHECKPOINTS = 120
PAPER_RUNS = 50
FEW_RUNS = 10  # with fewer runs, a band spans all of them
SETTING = ["width", "lam"]


def target(rng: np.random.Generator) -> Matrix:
    """M with uniformly random singular subspaces and an exponentially decaying spectrum."""
    sigma = np.exp(-np.arange(INPUTS) / DECAY)
    left, right = (random_frame(rows, INPUTS, rng) for rows in (OUTPUTS, INPUTS))
    return np.asarray((left * sigma) @ right.T)


def random_frame(rows: int, columns: int, rng: np.random.Generator) -> Matrix:
    """Uniformly distributed orthonormal columns: Q of a Gaussian matrix's QR decomposition.

    Signs are chosen to make the diagonal of R positive.
    """
    q, r = np.linalg.qr(rng.standard_normal((rows, columns)))
    return np.asarray(q * np.sign(np.diag(r)))


def start(width: int, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """U_0 and V_0, whose columns have E‖u_i‖²‖v_i‖² = 1."""
    deviation = (OUTPUTS * INPUTS) ** -0.25
    u, v = (rng.normal(0, deviation, (rows, width)) for rows in (OUTPUTS, INPUTS))
    return u, v


def convergence(
    seed: int,
    runs: int,
    *,
    steps: int = STEPS,
    widths: Sequence[int] = (20, 80),
    lams: Sequence[float] = (0.1, 0.5, 1.0),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Objective and variance of importance scores of every run at checkpoints, and the optimum.

    All runs share M. A run has its own random numbers, which do not depend on the numbers of runs
    and of threads.
    """
    data, *streams = np.random.default_rng(seed).spawn(1 + runs)
    m = target(data)
    settings = [(width, lam) for width in widths for lam in lams]
    cases = [
        (*setting, run, rng)
        for run, stream in enumerate(streams, 1)
        for setting, rng in zip(settings, stream.spawn(len(settings)), strict=True)
    ]
    progress = progress or Progress("dropout by SGD", len(cases), unit="runs")
    curves: list[pd.DataFrame] = [pd.DataFrame()] * len(cases)

    def work(first: int, last: int) -> None:
        for case in range(first, last):
            width, lam, run, rng = cases[case]
            curves[case] = curve(m, width, lam, steps, rng).assign(width=width, lam=lam, run=run)
            progress.advance(1)

    over_blocks(work, len(cases), 1)
    optimum = [(*setting, optimal_value(m, *setting)) for setting in settings]
    found = pd.concat(curves).merge(pd.DataFrame(optimum, columns=[*SETTING, "optimum"]))
    columns = [*SETTING, "run", "step", "objective", "variance", "optimum"]
    return found.sort_values(columns[:4], ignore_index=True)[columns]


def curve(m: Matrix, width: int, lam: float, steps: int, rng: np.random.Generator) -> pd.DataFrame:
    """Objective and variance of importance scores of one run at checkpoints."""
    rates = RATE * (1 - np.arange(steps) / steps)
    at = np.unique([0, *np.geomspace(1, steps, CHECKPOINTS).astype(int)])
    trained = dropout_sgd(m, *start(width, rng), keep_of(lam), rates, at.tolist(), rng)
    measured = [(objective(m, u, v, lam), importance(u, v).var()) for u, v in trained]
    return pd.DataFrame(measured, columns=["objective", "variance"]).assign(step=at)


def objective(m: Matrix, u: Matrix, v: Matrix, lam: float) -> float:
    """f (Eq. 2), computed without BLAS, whose idle threads would keep the processors busy."""
    return float(
        np.sum((m - products(u, v)) ** 2) + lam * np.sum(squared_norms(u) * squared_norms(v))
    )


def summary(curves: pd.DataFrame) -> pd.DataFrame:
    """End of every setting: f, its gap to the optimum, and the variance over that at the start."""
    return pd.DataFrame(
        [
            dict(zip(SETTING, setting, strict=True)) | _summary_of(case)
            for setting, case in curves.groupby(SETTING)
        ]
    )


def _summary_of(case: pd.DataFrame) -> dict[str, float]:
    f, variance = (by_run(case, what) for what in ("objective", "variance"))
    final, optimum = f.iloc[:, -1].mean(skipna=False), case["optimum"].iloc[0]
    return {
        "runs": len(variance),
        "final": final,
        "optimum": optimum,
        "gap": final / optimum - 1,
        "variance_share": variance.iloc[:, -1].mean() / variance.iloc[:, 0].mean(),
    }


def by_run(case: pd.DataFrame, what: str) -> pd.DataFrame:
    """One column of the curves as a table with a row per run and a column per step."""
    return case.pivot(index="run", columns="step", values=what)


def band(runs: int) -> tuple[float, float]:
    """Quantiles that show the spread of the given number of runs."""
    return (0, 1) if runs < FEW_RUNS else (0.1, 0.9)
