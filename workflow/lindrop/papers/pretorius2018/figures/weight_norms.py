"""Norms of the weights of a DAE and a WDAE with one fixed point (Pretorius 2018)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.claims.checks import Check, at_least, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import Mode, equivalents, loss
from lindrop.output.figures import page
from lindrop.papers.pretorius2018.trainings import (
    BLUE,
    DESCENT,
    FIXED,
    GRADUAL,
    GREEN,
    INTEGRATED,
    ORANGE,
    PINK,
    RATE,
    REACH,
    Training,
    learned,
    random_starts,
)

NORM_EPS, NORM_EPOCHS, NORM_START = 0.1, 1000, 0.01
LEVELS = np.geomspace(0.01, 10, 10)  # levels of ℓ above its minimum
TICKS = np.linspace(-REACH, REACH, 161)


def data(seed: int) -> pd.DataFrame:
    """Weights of a DAE and a WDAE with one fixed point, by run; the start of run 0 is small."""
    w1, w2 = (np.append(NORM_START, weights) for weights in random_starts(seed))
    trainings = [
        Training(mode, RATE, {"model": name})
        for name, mode in zip(("DAE", "WDAE"), equivalents(1.0, NORM_EPS), strict=True)
    ]
    table = learned(trainings, (w1, w2), NORM_EPOCHS, 5)
    norms = {
        f"{kind}norm": np.hypot(table[f"{kind}w1"], table[f"{kind}w2"]) for kind in ("", "descent_")
    }
    return table.assign(**norms)


def draw(table: pd.DataFrame) -> Figure:
    """A row per model: paths on the level sets of ℓ, w, and the norm of the weights."""
    figure = page(4.4)
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
    (curve, _, saddle), point = axes[0, 0].lines[:3], axes[1, 0].lines[0]
    keyed = {
        "from a small start": small,
        "from random starts": random,
        "gradient descent": descent,
        "fixed point": fixed,
        "saddle at 0": saddle,
        "minima of a DAE": curve,
        "minima of a WDAE": point,
    }
    figure.legend(keyed.values(), keyed.keys(), loc="outside lower center", ncols=4)
    return figure


def _draw_run(plane: Axes, product: Axes, norm: Axes, curve: pd.DataFrame, colour: str) -> None:
    plane.plot(curve["w1"], curve["w2"], color=colour, lw=1)
    plane.plot(*curve[["w1", "w2"]].iloc[0], ".", color=colour, ms=4)
    for axis, what in ((product, "w"), (norm, "norm")):
        axis.plot(curve["epoch"], curve[what], color=colour)
        axis.plot(curve["epoch"], curve[f"descent_{what}"], **DESCENT)


def _draw_levels(axis: Axes, mode: Mode) -> None:
    """Draw ℓ, which is least on two hyperbolas for a DAE and at two points for a WDAE."""
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


def checks(table: pd.DataFrame) -> list[Check]:
    """Checks of w₁² − w₂², which a DAE keeps and weight decay reduces at the rate 2Nγ."""
    by_model = dict(list(table.groupby("model")))
    dae, wdae = equivalents(1.0, NORM_EPS)
    found = []
    for name, mode in (("DAE", dae), ("WDAE", wdae)):
        curves = by_model[name]
        imbalance = (curves["w1"] ** 2 - curves["w2"] ** 2).groupby(curves["run"])
        start = imbalance.first().drop(0)  # without the balanced start
        end = RATE * curves["epoch"].max()
        weights = curves[(curves["epoch"] == 0) & (curves["run"] > 0)][["w1", "w2"]].to_numpy().T
        w1, w2 = integrate(mode, weights[0], weights[1], np.array([0, end]))
        claimed = start * np.exp(-2 * mode.decay * end)
        law = "falls as e^(−2Nγt/τ)" if mode.decay else "stays"
        what = f"{name}: |w₁² − w₂²| {law}: largest error, relative,"
        for of, last in (
            ("closed form", imbalance.last().drop(0)),
            ("integrated flow", (w1**2 - w2**2)[:, 1]),
        ):
            error = (last / claimed - 1).abs().max()
            found.append(equal("weight_norms", f"{what} {of}", error, 0, INTEGRATED))
        error = (curves["norm"] - curves["descent_norm"]).abs().mean()
        what = f"{name}: norm in closed form less gradient descent: mean error"
        found.append(equal("weight_norms", what, error, 0, GRADUAL))
        small = curves.loc[curves["run"] == 0, "norm"].iloc[-1]
        what = f"{name} from a small start: last norm less √(2w*)"
        found.append(equal("weight_norms", what, small - np.sqrt(2 * mode.fixed_point), 0, 0.001))
    last = {name: curves.groupby("run")["norm"].last() for name, curves in by_model.items()}
    what = "last norm of a DAE over a WDAE's from the same start: the least"
    found.append(at_least("weight_norms", what, (last["DAE"] / last["WDAE"]).min(), 1, 1e-3))
    return found
