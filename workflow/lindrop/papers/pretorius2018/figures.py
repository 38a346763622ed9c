"""The figures of Pretorius 2018 on single modes, from the tables of `curves`."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from lindrop.dropout.dynamics.modes import Mode, equivalents, loss
from lindrop.output.figures import COLOURS, page
from lindrop.papers.pretorius2018.curves import NORM_EPS, REACH

BLUE, ORANGE, GREEN, PINK = COLOURS[:4]
BLACK = COLOURS[-1]
STRENGTHS = colormaps["viridis_r"]
SPARSE = 20  # epochs between the points of an integrated flow
EXAMPLE = 1.0  # the ε whose WDAE is also drawn as printed
LEVELS = np.geomspace(0.01, 10, 10)  # of ℓ above its minimum
TICKS = np.linspace(-REACH, REACH, 161)
FIXED: dict[str, Any] = {"color": PINK, "ls": "-.", "lw": 0.8, "label": "fixed point"}
DESCENT: dict[str, Any] = {"color": ORANGE, "ls": "--", "lw": 0.9}


def draw_dynamics(table: pd.DataFrame) -> Figure:
    """Above AE and DAEs, below each DAE the WDAE with its fixed point, and the rest: errors."""
    figure = page(4.0)
    axes = figure.subplots(2, 3, sharex=True)
    panels = [("AE", 0), ("DAE", 1), ("DAE", 5), None, ("WDAE", 1), ("WDAE", 5)]
    cases = dict(list(table.groupby(["model", "eps"])))
    for axis, panel in zip(axes.flat, panels, strict=True):
        if panel:
            _draw_runs(axis, *panel, cases[panel])
    _draw_errors(axes[1, 0], table)
    for axis in axes[1]:
        axis.set_xlabel("epoch")
    for axis in (axes[0, 0], axes[1, 1]):
        axis.set_ylabel("$w = w_2w_1$")
    axes[0, 0].legend(loc="lower right")
    return figure


def _draw_runs(axis: Axes, model: str, eps: float, curves: pd.DataFrame) -> None:
    for column, label, every, style in (
        ("w", "closed form", 1, {"color": GREEN}),
        (
            "integrated",
            "integrated flow",
            SPARSE,
            {"color": BLACK, "ls": "", "marker": ".", "ms": 2},
        ),
        ("descent_w", "gradient descent", 1, DESCENT),
    ):
        runs = curves.pivot(index="epoch", columns="run", values=column)[::every]
        first, *_ = axis.plot(runs.index, runs.to_numpy(), **style)
        first.set_label(label)
    mode = equivalents(1.0, eps)[model == "WDAE"]
    axis.axhline(mode.fixed_point, **FIXED)
    strength = f"ε = {eps:g}" if model == "DAE" else f"Nγ = {mode.decay:.3g}"
    axis.set_title(model if model == "AE" else f"{model}, {strength}", loc="left")


def _draw_errors(axis: Axes, table: pd.DataFrame) -> None:
    """The largest over all models and starts."""
    for column, label, style in (
        ("descent_w", "gradient descent", DESCENT),
        ("integrated", "integrated flow", {"color": BLACK, "lw": 0.9}),
    ):
        errors = (table["w"] - table[column]).abs().groupby(table["epoch"]).max()
        axis.semilogy(errors.drop(0), label=label, **style)
    axis.set_title("distance to the closed form", loc="left")
    axis.set_ylabel("largest |Δw|")
    axis.legend(loc="center right")


def draw_dae_vs_wdae(table: pd.DataFrame) -> Figure:
    """Above noise, below weight decay with the same fixed points; a column per λ."""
    figure = page(3.6)
    lams = table["lam"].unique()
    axes = figure.subplots(2, len(lams), sharex=True, sharey=True)
    for (model, lam), curves in table.groupby(["model", "lam"]):
        axis = axes[int(model == "WDAE"), list(lams).index(lam)]
        _draw_strengths(axis, curves, "w")
        axis.set_title(f"{model}, λ = {lam:g}", loc="left")
        if model == "WDAE":
            example = curves[curves["eps"] == EXAMPLE]
            label = f"E21: as printed, ε = {EXAMPLE:g}"
            axis.plot(example["epoch"], example["printed"], "k:", lw=1, label=label)
            axis.set_xlabel("epoch")
    for row in axes:
        row[0].set_ylabel("w")
    axes[1, -1].legend(loc="center left")
    axes[0, 0].set_xticks([0, 10_000, 20_000])
    _explain_strengths(figure, axes, table)
    return figure


def _draw_strengths(axis: Axes, curves: pd.DataFrame, what: str, **style: Any) -> None:
    most = curves["eps"].max()
    for eps, curve in curves.groupby("eps"):
        axis.plot(curve["epoch"], curve[what], color=STRENGTHS(eps / most), **style)


def _explain_strengths(figure: Figure, axes: Any, table: pd.DataFrame) -> None:
    scale = ScalarMappable(Normalize(0, table["eps"].max()), STRENGTHS)
    figure.colorbar(scale, ax=axes, label="ε", pad=0.01, aspect=30)


def draw_rates(curves: pd.DataFrame, rates: pd.DataFrame) -> Figure:
    """Trajectories at optimal rates, their differences, the rates, and the steps they take."""
    figure = page(4.2)
    axes = figure.subplots(2, 2)
    by_model = dict(list(curves.groupby("model")))
    _draw_strengths(axes[0, 0], by_model["DAE"], "w")
    _draw_strengths(axes[0, 0], by_model["WDAE"], "w", ls=(0, (1, 3)), lw=3)
    axes[0, 0].set(xlabel="epoch", ylabel="w")
    axes[0, 0].set_title("printed rates: DAE (lines) and WDAE (dots)", loc="left")
    for name, style in (("WDAE, public code", {}), ("WDAE", {"lw": 3, "ls": ":"})):
        apart = by_model[name].assign(apart=by_model["DAE"]["w"].values - by_model[name]["w"])
        _draw_strengths(axes[0, 1], apart, "apart", **style)
    axes[0, 1].set(xlabel="epoch", ylabel="w of DAE − w of WDAE")
    axes[0, 1].set_title("WDAE: rate 1/(2λ + 2Nγ) (lines), printed (dots)", loc="left")
    _explain_strengths(figure, axes[0], curves)
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


def draw_weight_norms(table: pd.DataFrame) -> Figure:
    """A row per model: paths on the level sets of ℓ, w, and the norm of the weights."""
    figure = page(4.0)
    axes = figure.subplots(2, 3)
    modes = dict(zip(("DAE", "WDAE"), equivalents(1.0, NORM_EPS), strict=True))
    for (plane, product, norm), (name, curves) in zip(axes, table.groupby("model"), strict=True):
        mode = modes[str(name)]
        _draw_levels(plane, mode)
        for run, curve in curves.groupby("run"):
            _draw_run(plane, product, norm, curve, PINK if run == 0 else BLUE)
        product.axhline(mode.fixed_point, **FIXED)
        norm.axhline(np.sqrt(2 * mode.fixed_point), **FIXED)
        strength = f"ε = {mode.eps:g}" if mode.eps else f"Nγ = {mode.decay:.3g}"
        plane.set_title(f"{name}, {strength}", loc="left")
        product.set(xlabel="epoch", ylabel="$w = w_2w_1$")
        norm.set(xlabel="epoch", ylabel="norm of the weights", ylim=(0, 2 * np.sqrt(2)))
    small, descent, random, *_, fixed = axes[0, 1].lines
    labels = ["from a small start", "gradient descent", "from random starts", "fixed point"]
    axes[0, 1].legend([small, descent, random, fixed], labels, loc="lower right")
    return figure


def _draw_run(plane: Axes, product: Axes, norm: Axes, curve: pd.DataFrame, colour: str) -> None:
    plane.plot(curve["w1"], curve["w2"], color=colour, lw=1)
    plane.plot(*curve[["w1", "w2"]].iloc[0], ".", color=colour, ms=4)
    for axis, what in ((product, "w"), (norm, "norm")):
        axis.plot(curve["epoch"], curve[what], color=colour)
        axis.plot(curve["epoch"], curve[f"descent_{what}"], **DESCENT)


def _draw_levels(axis: Axes, mode: Mode) -> None:
    """ℓ is least on two hyperbolas for a DAE, at two points for a WDAE."""
    w1, w2 = np.meshgrid(TICKS, TICKS)
    least = np.sqrt(mode.fixed_point)
    bottom = float(loss(mode, least, least))
    axis.contour(w1, w2, loss(mode, w1, w2) - bottom, LEVELS, cmap="Greys_r", linewidths=0.5)
    for sign in (-1, 1):
        if mode.decay:
            axis.plot(sign * least, sign * least, "o", color=GREEN, ms=5, mec="k", zorder=5)
        else:
            along = sign * np.geomspace(mode.fixed_point / REACH, REACH, 100)
            axis.plot(along, mode.fixed_point / along, color=GREEN, lw=2)
    axis.plot(0, 0, "*", color=ORANGE, ms=7, mec="k", mew=0.4, zorder=5)
    axis.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
    axis.grid(False)
