"""Optimal learning rates of Pretorius 2018 (Section D), with trajectories and numbers of steps.

The printed rates are for the largest curvature where both weights are equal and at most 1. From a
small start faster ones take fewer steps: of a DAE 1/2λ, of a WDAE 1/2(λ − Nγ) if its weights are
equal, and 1/max(2(λ − Nγ), λ + Nγ) from any small start.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import EXTENSION, Check, at_least, at_most, equal
from lindrop.dropout.dynamics.descent import gradient_descent, steps_to_learn
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
    REACH,
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
STARTS, CONVERGED = 1000, 200  # random starts, and steps after which one that diverges is infinite

STYLES: dict[tuple[str, str], dict[str, Any]] = {
    ("DAE", "as printed"): {"color": GREEN, "lw": 2.5, "alpha": 0.5},
    ("WDAE", "as printed"): {"color": ORANGE, "ls": "--"},
    ("DAE", "of the path"): {"color": GREEN, "ls": ":"},
    ("WDAE", "of the path"): {"color": PINK, "ls": "-."},
    ("WDAE", "of any direction"): {"color": ORANGE, "ls": ":"},
}
FORMULAS = {
    ("DAE", "as printed"): "1/(2λ + 3ε)",
    ("WDAE", "as printed"): "1/(2λ + Nγ)",
    ("DAE", "of the path"): "1/2λ",
    ("WDAE", "of the path"): "1/2(λ − Nγ), for equal weights only",
    ("WDAE", "of any direction"): "1/max(2(λ − Nγ), λ + Nγ)",
}
Tables = tuple[pd.DataFrame, pd.DataFrame]  # the tables `trajectories` and `rates`


def data(seed: int) -> Tables:
    """Trajectories at a small share of the optimal rates, and the rates with their steps."""
    return rate_curves(), rate_table(seed)


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


def rate_table(seed: int) -> pd.DataFrame:
    """Optimal rates as printed, for the path and for any direction, with what they do.

    `steps` are those from a small start, `diverging` is the share of random starts that diverge.
    """
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
    random = np.random.default_rng(seed).uniform(-REACH, REACH, (2, STARTS))
    diverging = [_diverging(mode, rate, random) for mode, rate in zip(modes, rates, strict=True)]
    return pd.DataFrame({**columns, "rate": rates, "steps": steps, "diverging": diverging})


def _diverging(mode: Mode, rate: float, starts: Matrix) -> float:
    """Share of the starts from which gradient descent diverges."""
    with np.errstate(over="ignore", invalid="ignore"):
        path = gradient_descent([mode], [rate], starts[0], starts[1], CONVERGED)
    return float(np.mean(~np.isfinite(path[-1, :, 0]).all(axis=0)))


def draw(data: Tables) -> Figure:
    """Trajectories at printed rates, their differences, the ratio; the rates and what they do."""
    curves, rates = data
    figure = page(4.6)
    axes = figure.subplots(2, 3)
    by_model = dict(list(curves.groupby("model")))
    draw_strengths(axes[0, 0], by_model["DAE"], "w")
    draw_strengths(axes[0, 0], by_model["WDAE"], "w", ls=(0, (1, 3)), lw=3)
    axes[0, 0].set(xlabel="epoch", ylabel="w")
    axes[0, 0].set_title("printed rates: DAE (lines)\nand WDAE (dots)", loc="left")
    for name, style in (("WDAE, public code", {}), ("WDAE", {"lw": 3, "ls": ":"})):
        apart = by_model[name].assign(apart=by_model["DAE"]["w"].values - by_model[name]["w"])
        draw_strengths(axes[0, 1], apart, "apart", **style)
    axes[0, 1].set(xlabel="epoch", ylabel="w of DAE − w of WDAE")
    axes[0, 1].set_title("WDAE: rate 1/(2λ + 2Nγ)\n(lines), printed (dots)", loc="left")
    for axis in axes[0, :2]:
        axis.set_xticks([0, 10_000, 20_000])
    explain_strengths(figure, axes[0, 1], curves)
    cases = {by: case.set_index("eps") for by, case in rates.groupby(["model", "of"])}
    printed, of_wdae = (cases[model, "as printed"]["rate"] for model in ("DAE", "WDAE"))
    axes[0, 2].plot(printed / of_wdae, color=PINK)
    axes[0, 2].set(xlabel="ε", ylabel="R", ylim=(0, None))
    axes[0, 2].set_title("printed rate of a DAE\nover that of a WDAE", loc="left")
    panels = {
        "rate": ("α/N", "rates"),
        "steps": ("steps", "steps to w* within 1 %\nfrom a small start"),
        "diverging": ("share", "random starts in (−2, 2)²\nthat diverge"),
    }
    for axis, (column, (label, title)) in zip(axes[1], panels.items(), strict=True):
        for (model, of), style in STYLES.items():
            name = f"{model}, {of}: {FORMULAS[model, of]}"
            axis.plot(cases[model, of][column], label=name, **style)
        axis.set(xlabel="ε", ylabel=label)
        axis.set(**({"yscale": "log"} if column == "rate" else {"ylim": (0, None)}))
        axis.set_title(title, loc="left")
    figure.legend(*axes[1, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def checks(data: Tables) -> list[Check]:
    """Checks of the trajectories at the printed rates, and of steps from a small start."""
    curves, rates = data
    w = curves.pivot(index=["eps", "epoch"], columns="model", values="w")
    apart = (w["DAE"] - w["WDAE"]).abs().max()
    apart_in_code = (w["DAE"] - w["WDAE, public code"]).abs().max()
    what = "w(t) of DAE and WDAE, largest difference"
    return [
        equal("rates", f"{what}: printed rates", apart, 0, EXACT),
        at_least(
            "rates", f"{what}: the WDAE's rate 1/(2λ + 2Nγ)", apart_in_code, GRADUAL, form=EXTENSION
        ),
        *_steps_of_noise(rates[rates["model"] == "DAE"]),
    ]


def _steps_of_noise(rates: pd.DataFrame) -> Iterator[Check]:
    """Checks that from a small start noise slows the printed rate, and not that of the path."""
    steps = rates.pivot(index="eps", columns="of", values="steps")
    more = steps.max() - steps.iloc[0]
    what = "DAE from a small start: steps to w* within 1 % less those at ε = 0, largest; rate"
    yield at_least("rates", f"{what} 1/(2λ + 3ε)", more["as printed"], 1, form=EXTENSION)
    yield at_most("rates", f"{what} 1/2λ", more["of the path"], 0, form=EXTENSION)
