"""What the figures of Pretorius 2018 on single modes plot: a table for every figure.

The main paper is not at hand. Its settings are those of the authors' public code; of time it knows
the epochs of full-batch gradient descent with N = 1.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lindrop.dropout.dynamics.descent import gradient_descent, integrate, steps_to_learn
from lindrop.dropout.dynamics.modes import Mode, Pair, equivalents
from lindrop.dropout.dynamics.rates import (
    curvature_of_path,
    curvature_printed,
    largest_curvature,
)
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.papers.pretorius2018.as_printed import balanced_trajectory

RUNS, REACH = 10, 2.0  # starts, uniform in (−2, 2)²
RATE, EPOCHS = 0.01, 200
FEW, MANY = np.array([0.0, 1.0, 5.0]), np.arange(10) / 5  # ε
LAMS = 2.5, 1.0, 0.5
SLOW_RATE, SLOW_EPOCHS, SHOWN = 0.001, 20_000, 100  # one epoch of so many is in the table
SMALL = np.array([1e-3])  # w₁ = w₂ at the start
OPTIMAL_SHARE = 0.005  # of an optimal rate
FINE = np.arange(51) / 5  # ε
STEPS = 1000
NORM_EPS, NORM_EPOCHS, NORM_START = 0.1, 1000, 0.01


class Training(NamedTuple):
    """A mode, how fast it is trained, and what its rows are to be found by."""

    mode: Mode
    rate: float
    labels: dict[str, Any]


def dynamics(seed: int) -> pd.DataFrame:
    """AE, DAE and WDAE from random starts: closed form, integrated flow, gradient descent."""
    trainings = list(_few_modes())
    starts = _random_starts(seed)
    times = RATE * np.arange(EPOCHS + 1)
    integrated = [np.prod(integrate(each.mode, *starts, times), axis=0) for each in trainings]
    table = learned(trainings, starts, EPOCHS)
    return table.assign(integrated=np.ravel(integrated))


def _few_modes() -> Iterator[Training]:
    for eps in FEW:
        dae, wdae = equivalents(1.0, eps)
        yield Training(dae, RATE, {"model": "DAE" if eps else "AE", "eps": eps, "decay": 0.0})
        if eps:
            yield Training(wdae, RATE, {"model": "WDAE", "eps": eps, "decay": wdae.decay})


def dae_vs_wdae() -> pd.DataFrame:
    """Noise and the weight decay that has its fixed point; of the latter also as printed (E21)."""
    trainings = [
        Training(mode, SLOW_RATE, {"model": name, "lam": lam, "eps": eps})
        for lam in LAMS
        for eps in MANY
        for name, mode in zip(("DAE", "WDAE"), equivalents(lam, eps), strict=True)
    ]
    table = learned(trainings, (SMALL, SMALL), SLOW_EPOCHS, SHOWN)
    times = SLOW_RATE * np.arange(0, SLOW_EPOCHS + 1, SHOWN)
    printed = [
        balanced_trajectory(each.mode, SMALL**2, times, corrected=False)
        if each.labels["model"] == "WDAE"
        else np.full(len(times), np.nan)
        for each in trainings
    ]
    return table.assign(printed=np.concatenate(printed))


def rate_curves() -> pd.DataFrame:
    """At a small share of the optimal rates: as printed, and of the WDAE as in the public code."""
    trainings = []
    for eps in MANY:
        dae, wdae = equivalents(1.0, eps)
        curvatures = {
            "DAE": (dae, curvature_printed(dae)),
            "WDAE": (wdae, curvature_printed(wdae)),
            "WDAE, public code": (wdae, curvature_of_code(wdae)),
        }
        trainings += [
            Training(mode, OPTIMAL_SHARE / curvature, {"model": name, "eps": eps})
            for name, (mode, curvature) in curvatures.items()
        ]
    return learned(trainings, (SMALL, SMALL), SLOW_EPOCHS, SHOWN)


def curvature_of_code(wdae: Mode) -> float:
    """2λ + 2Nγ: what the rate of a WDAE is 1 over in Figure 3 of the authors' public code."""
    return 2 * wdae.lam + 2 * wdae.decay


def rate_table() -> pd.DataFrame:
    """Optimal rates as printed, for the path, for any direction, and the steps that they take."""
    curvatures = {
        "as printed": curvature_printed,
        "of the path": curvature_of_path,
        "of any direction": largest_curvature,
    }
    cases = [
        (name, eps, of, mode, 1 / curvature(mode))
        for eps in FINE
        for name, mode in zip(("DAE", "WDAE"), equivalents(1.0, eps), strict=True)
        for of, curvature in curvatures.items()
    ]
    *labels, modes, rates = zip(*cases, strict=True)
    steps = steps_to_learn(modes, rates, SMALL.item(), STEPS)
    columns = dict(zip(("model", "eps", "of"), labels, strict=True))
    return pd.DataFrame({**columns, "rate": rates, "steps": steps})


def weight_norms(seed: int) -> pd.DataFrame:
    """A DAE and a WDAE of one fixed point, from random starts and (run 0) a small one."""
    w1, w2 = (np.append(NORM_START, weights) for weights in _random_starts(seed))
    trainings = [
        Training(mode, RATE, {"model": name})
        for name, mode in zip(("DAE", "WDAE"), equivalents(1.0, NORM_EPS), strict=True)
    ]
    table = learned(trainings, (w1, w2), NORM_EPOCHS, 5)
    norms = {
        f"{kind}norm": np.hypot(table[f"{kind}w1"], table[f"{kind}w2"]) for kind in ("", "descent_")
    }
    return table.assign(**norms)


def learned(trainings: list[Training], starts: Pair, epochs: int, every: int = 1) -> pd.DataFrame:
    """w₁, w₂ and w by the closed form and by gradient descent, of every run after every epoch."""
    modes, rates = [each.mode for each in trainings], [each.rate for each in trainings]
    path = gradient_descent(modes, rates, *starts, epochs)[::every]
    shown = np.arange(0, epochs + 1, every)
    run, epoch = (axis.ravel() for axis in np.meshgrid(range(len(starts[0])), shown, indexing="ij"))
    tables = []
    for number, (mode, rate, labels) in enumerate(trainings):
        w1, w2 = trajectory(mode, starts[0][:, None], starts[1][:, None], rate * shown)
        columns = {"w1": w1, "w2": w2, "w": w1 * w2}
        w1, w2 = np.moveaxis(path[:, :, number], 0, -1)
        columns |= {"descent_w1": w1, "descent_w2": w2, "descent_w": w1 * w2}
        flat = {name: values.ravel() for name, values in columns.items()}
        tables.append(pd.DataFrame({**labels, "run": run, "epoch": epoch, **flat}))
    return pd.concat(tables, ignore_index=True)


def _random_starts(seed: int) -> Pair:
    w1, w2 = np.random.default_rng(seed).uniform(-REACH, REACH, (2, RUNS))
    return w1, w2
