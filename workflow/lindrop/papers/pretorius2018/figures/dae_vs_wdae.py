"""Noise against the weight decay with the same fixed point (Pretorius 2018, E21).

The public code of this figure has the exponent 2(λ − Nγ)t/τ, which our copy of Section C misses.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check, at_least, equal
from lindrop.dropout.dynamics.modes import equivalents
from lindrop.output.figures import page
from lindrop.papers.pretorius2018.as_printed import balanced_trajectory
from lindrop.papers.pretorius2018.trainings import (
    GRADUAL,
    MANY,
    SHOWN,
    SLOW_EPOCHS,
    SMALL,
    Training,
    draw_strengths,
    explain_strengths,
    learned,
)

LAMS = 2.5, 1.0, 0.5
SLOW_RATE = 0.001
EXAMPLE = 1.0  # the ε at which the WDAE is also drawn with the exponent of our copy
CROSSED = 0.01  # relative tolerance of times interpolated between epochs


def data() -> pd.DataFrame:
    """w(t) with noise and with the equivalent weight decay, the latter also as in our copy."""
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


def draw(table: pd.DataFrame) -> Figure:
    """Noise in the top row, weight decay with the same fixed points below; a column per λ."""
    figure = page(3.6)
    lams = table["lam"].unique()
    axes = figure.subplots(2, len(lams), sharex=True, sharey=True)
    for (model, lam), curves in table.groupby(["model", "lam"]):
        axis = axes[int(model == "WDAE"), list(lams).index(lam)]
        draw_strengths(axis, curves, "w")
        axis.set_title(f"{model}, λ = {lam:g}", loc="left")
        if model == "WDAE":
            example = curves[curves["eps"] == EXAMPLE]
            (copied,) = axis.plot(example["epoch"], example["printed"], "k:", lw=1)
            axis.set_xlabel("epoch")
    for row in axes:
        row[0].set_ylabel("w")
    label = f"WDAE with the exponent that our copy prints (E21), ε = {EXAMPLE:g}"
    figure.legend([copied], [label], loc="outside lower center")
    axes[0, 0].set_xticks([0, 10_000, 20_000])
    explain_strengths(figure, axes, table)
    return figure


def checks(table: pd.DataFrame) -> list[Check]:
    """Checks of closed forms against gradient descent, and that weight decay learns more slowly."""
    ratios = _slowdown(table)
    by_rates = 1 + ratios["eps"] / ratios["lam"]
    what = "epochs to w*/2, WDAE over DAE"
    return [
        *_against_descent(table),
        at_least("dae_vs_wdae", f"{what}: the least of all λ and ε > 0", ratios["ratio"].min(), 1),
        equal(
            "dae_vs_wdae",
            f"{what}: largest error of 1 + ε/λ, relative",
            (ratios["ratio"] / by_rates - 1).abs().max(),
            0,
            CROSSED,
        ),
    ]


def _against_descent(table: pd.DataFrame) -> Iterator[Check]:
    for model, curves in table.groupby("model"):
        error = (curves["w"] - curves["descent_w"]).abs().max()
        what = f"{model}: w(t) less gradient descent, all λ and ε: largest error"
        yield equal("dae_vs_wdae", what, error, 0, GRADUAL)


def _slowdown(table: pd.DataFrame) -> pd.DataFrame:
    """Time to w*/2 of the WDAE over that of the DAE, if both get there."""
    found = []
    for _, curves in table[table["eps"] > 0].groupby(["lam", "eps"]):
        lam, eps = curves[["lam", "eps"]].iloc[0]
        half = equivalents(lam, eps)[0].fixed_point / 2
        dae, wdae = (
            np.interp(np.log(half), np.log(curve["w"]), curve["epoch"], right=np.nan)
            for _, curve in curves.groupby("model")
        )
        found.append({"lam": lam, "eps": eps, "ratio": wdae / dae})
    return pd.DataFrame(found).dropna()
