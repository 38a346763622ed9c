"""Optimal learning rates of Pretorius 2018 (Section D), with trajectories and numbers of steps."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.dynamics.descent import steps_to_learn
from lindrop.dropout.dynamics.modes import (
    Mode,
    curvature_of_path,
    curvature_printed,
    equivalents,
    largest_curvature,
)
from lindrop.output.figures import page
from lindrop.papers.pretorius2018.trainings import (
    EXACT,
    GRADUAL,
    GREEN,
    MANY,
    ORANGE,
    PINK,
    SHOWN,
    SLOW_EPOCHS,
    SMALL,
    Training,
    draw_strengths,
    explain_strengths,
    learned,
)

OPTIMAL_SHARE = 0.005  # share of an optimal rate used for trajectories
FINE = np.arange(51) / 5  # values of ε
STEPS = 1000
SLOWER = 1.5

Tables = tuple[pd.DataFrame, pd.DataFrame]  # the tables `trajectories` and `rates`


def data() -> Tables:
    """Trajectories at a small share of the optimal rates, and the rates with their steps."""
    return rate_curves(), rate_table()


def table(data: Tables) -> pd.DataFrame:
    """Both tables as one, with a column that names the panel."""
    panels = dict(zip(("trajectories", "rates"), data, strict=True))
    return pd.concat(panels, names=["panels"]).reset_index("panels").convert_dtypes()


def rate_curves() -> pd.DataFrame:
    """w(t) at a small share of the optimal rates, printed and of the public code."""
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
    """2λ + 2Nγ, the inverse of a WDAE's rate in Figure 3 of the authors' public code."""
    return 2 * wdae.lam + 2 * wdae.decay


def rate_table() -> pd.DataFrame:
    """Optimal rates as printed, for the path and for any direction, with their numbers of steps."""
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


def draw(data: Tables) -> Figure:
    """Trajectories at optimal rates, their differences, the rates, and the numbers of steps."""
    curves, rates = data
    figure = page(4.2)
    axes = figure.subplots(2, 2)
    by_model = dict(list(curves.groupby("model")))
    draw_strengths(axes[0, 0], by_model["DAE"], "w")
    draw_strengths(axes[0, 0], by_model["WDAE"], "w", ls=(0, (1, 3)), lw=3)
    axes[0, 0].set(xlabel="epoch", ylabel="w")
    axes[0, 0].set_title("printed rates: DAE (lines) and WDAE (dots)", loc="left")
    for name, style in (("WDAE, public code", {}), ("WDAE", {"lw": 3, "ls": ":"})):
        apart = by_model[name].assign(apart=by_model["DAE"]["w"].values - by_model[name]["w"])
        draw_strengths(axes[0, 1], apart, "apart", **style)
    axes[0, 1].set(xlabel="epoch", ylabel="w of DAE − w of WDAE")
    axes[0, 1].set_title("WDAE: rate 1/(2λ + 2Nγ) (lines), printed (dots)", loc="left")
    explain_strengths(figure, axes[0], curves)
    _draw_rates(axes[1, 0], rates)
    _draw_steps(axes[1, 1], rates)
    return figure


def _draw_rates(axis: Axes, rates: pd.DataFrame) -> None:
    cases = rates.set_index(["model", "of", "eps"])["rate"].sort_index()
    printed = {model: cases[model, "as printed"] for model in ("DAE", "WDAE")}
    axis.plot(printed["DAE"], color=GREEN, label="DAE, as printed")
    axis.plot(printed["WDAE"], color=ORANGE, label="WDAE, as printed")
    axis.plot(printed["DAE"] / printed["WDAE"], color=PINK, ls="--", label="their ratio R")
    axis.plot(cases["WDAE", "of any direction"], color=ORANGE, ls=":")
    axis.plot(cases["DAE", "of the path"], color=GREEN, ls=":")
    axis.set(xlabel="ε", ylabel="α/N", ylim=(0, None))
    axis.set_title("optimal rates", loc="left")
    axis.legend()


def _draw_steps(axis: Axes, rates: pd.DataFrame) -> None:
    styles: dict[tuple[str, str], dict[str, Any]] = {
        ("DAE", "as printed"): {"color": GREEN, "lw": 2.5, "alpha": 0.5},
        ("WDAE", "as printed"): {"color": ORANGE, "ls": "--"},
        ("WDAE", "of any direction"): {"color": ORANGE, "ls": ":"},
        ("DAE", "of the path"): {"color": GREEN, "ls": ":"},
    }
    cases = rates.set_index(["model", "of", "eps"])["steps"].sort_index()
    for (model, of), style in styles.items():
        axis.plot(cases[model, of], label=f"{model}, {of}", **style)
    axis.set(xlabel="ε", ylabel="steps to w* within 1 %", ylim=(0, None))
    axis.set_title("gradient descent with these rates", loc="left")
    axis.legend()


def checks(data: Tables) -> list[Check]:
    """Checks of the ratio of printed rates, of the trajectories, and of the numbers of steps."""
    curves, rates = data
    w = curves.pivot(index=["eps", "epoch"], columns="model", values="w")
    printed = rates[rates["of"] == "as printed"].pivot(index="eps", columns="model", values="rate")
    ratio = printed["DAE"] / printed["WDAE"] * (1 + printed.index.to_series())
    apart = (w["DAE"] - w["WDAE"]).abs().max()
    apart_in_code = (w["DAE"] - w["WDAE, public code"]).abs().max()
    what = "w(t) of DAE and WDAE, largest difference"
    return [
        equal("rates", "R times 1 + ε/λ less 1: largest", (ratio - 1).abs().max(), 0, EXACT),
        equal("rates", f"{what}: printed rates", apart, 0, EXACT),
        at_least("rates", f"{what}: the WDAE's rate 1/(2λ + 2Nγ)", apart_in_code, GRADUAL),
        *_slowed_by_noise(rates[rates["model"] == "DAE"]),
    ]


def _slowed_by_noise(rates: pd.DataFrame) -> Iterator[Check]:
    """Checks that noise does not slow down a DAE with its optimal rate."""
    forms: tuple[tuple[str, Form], ...] = (("as printed", PRINTED), ("of the path", CORRECTED))
    for of, form in forms:
        steps = rates[rates["of"] == of].set_index("eps")["steps"]
        what = "DAE with its optimal rate: steps to w* within 1 % over those at ε = 0, largest"
        yield at_most("rates", what, steps.max() / steps[0], SLOWER, form=form)
