"""Learning of single modes by an AE, a DAE and a WDAE from random starts (Pretorius 2018)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.claims.checks import EXTENSION, PRINTED, Check, Form, equal
from lindrop.dropout.dynamics.descent import integrate
from lindrop.dropout.dynamics.modes import equivalents
from lindrop.output.figures import key, page
from lindrop.papers.pretorius2018.trainings import (
    BLACK,
    DESCENT,
    FIXED,
    GRADUAL,
    GREEN,
    INTEGRATED,
    RATE,
    Training,
    learned,
    random_starts,
)

EPOCHS = 200
FEW = np.array([0.0, 1.0, 5.0])  # values of ε
SPARSE = 20  # epochs between the drawn points of the integrated flow


def data(seed: int) -> pd.DataFrame:
    """w(t) of AE, DAE and WDAE: closed form, integrated flow and gradient descent."""
    trainings = list(_few_modes())
    starts = random_starts(seed)
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


def draw(table: pd.DataFrame) -> Figure:
    """AE and DAEs in the top row, below each DAE its WDAE, and below the AE the errors."""
    figure = page(4.3)
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
    key(figure, [axes[0, 0]], 4)
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
    """Draw the largest errors over all models and starts."""
    for column, label, style in (
        ("descent_w", "gradient descent", DESCENT),
        ("integrated", "integrated flow", {"color": BLACK, "lw": 0.9}),
    ):
        errors = (table["w"] - table[column]).abs().groupby(table["epoch"]).max()
        axis.semilogy(errors.drop(0), label=label, **style)
    axis.set_title("distance to the closed form", loc="left")
    axis.set_ylabel("largest |Δw|")
    axis.legend(loc="center right")


def checks(table: pd.DataFrame) -> list[Check]:
    """Checks that closed form, integrated flow and gradient descent agree."""
    found = []
    for model, curves in table.groupby("model"):
        form: Form = EXTENSION if model == "WDAE" else PRINTED
        what = f"{model}: w(t) in closed form, from random starts, less"
        error = (curves["w"] - curves["integrated"]).abs().max()
        largest = f"{what} the integrated flow: largest error"
        found.append(equal("dynamics", largest, error, 0, INTEGRATED, form))
        error = (curves["w"] - curves["descent_w"]).abs().mean()
        mean = f"{what} gradient descent with rate {RATE:g}: mean error"
        found.append(equal("dynamics", mean, error, 0, GRADUAL, form))
    return found
