"""What the figures of Pretorius 2018 on single modes show, asked of the tables of `curves`."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form, at_least, at_most, equal
from lindrop.dropout.dynamics.modes import equivalents
from lindrop.papers.pretorius2018.curves import NORM_EPS, RATE

INTEGRATED, EXACT = 1e-9, 1e-10
GRADUAL = 0.01  # what finite steps leave
CROSSED = 0.01  # times between the epochs of a table, relative
SLOWER = 1.5


def dynamics_checks(table: pd.DataFrame) -> list[Check]:
    """Closed form, integrated flow and gradient descent on top of each other."""
    found = []
    for model, curves in table.groupby("model"):
        form: Form = CORRECTED if model == "WDAE" else PRINTED
        what = f"{model}: w(t) in closed form, from random starts, less"
        error = (curves["w"] - curves["integrated"]).abs().max()
        largest = f"{what} the integrated flow: largest error"
        found.append(equal("dynamics", largest, error, 0, INTEGRATED, form))
        error = (curves["w"] - curves["descent_w"]).abs().mean()
        mean = f"{what} gradient descent with rate {RATE:g}: mean error"
        found.append(equal("dynamics", mean, error, 0, GRADUAL, form))
    return found


def dae_vs_wdae_checks(table: pd.DataFrame) -> list[Check]:
    """Gradient descent follows the closed forms; weight decay learns the more slowly of the two."""
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
    forms: tuple[tuple[str, str, Form], ...] = (
        ("DAE", "w", PRINTED),
        ("WDAE", "printed", PRINTED),
        ("WDAE", "w", CORRECTED),
    )
    for model, column, form in forms:
        curves = table[table["model"] == model]
        error = (curves[column] - curves["descent_w"]).abs().max()
        what = f"{model}: w(t) less gradient descent, all λ and ε: largest error"
        yield equal("dae_vs_wdae", what, error, 0, GRADUAL, form)


def _slowdown(table: pd.DataFrame) -> pd.DataFrame:
    """Time to w*/2 of the WDAE over that of the DAE, wherever both get there."""
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


def rates_checks(curves: pd.DataFrame, rates: pd.DataFrame) -> list[Check]:
    """Printed rates: their ratio, what it makes of the trajectories, and the steps they take."""
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
    forms: tuple[tuple[str, Form], ...] = (("as printed", PRINTED), ("of the path", CORRECTED))
    for of, form in forms:
        steps = rates[rates["of"] == of].set_index("eps")["steps"]
        what = "DAE with its optimal rate: steps to w* within 1 % over those at ε = 0, largest"
        yield at_most("rates", what, steps.max() / steps[0], SLOWER, form=form)


def weight_norms_checks(table: pd.DataFrame) -> list[Check]:
    """A DAE keeps w₁² − w₂² of its start for good, weight decay forgets it at the rate 2Nγ."""
    by_model = dict(list(table.groupby("model")))
    dae, wdae = equivalents(1.0, NORM_EPS)
    found = []
    for name, mode in (("DAE", dae), ("WDAE", wdae)):
        curves = by_model[name]
        imbalance = (curves["w1"] ** 2 - curves["w2"] ** 2).groupby(curves["run"])
        left = (imbalance.last() / imbalance.first()).drop(0)  # but of the balanced start
        claimed = np.exp(-2 * mode.decay * RATE * curves["epoch"].max())
        what = f"{name}: |w₁² − w₂²| falls as e^(−2Nγt/τ): largest error, relative"
        found.append(equal("weight_norms", what, (left / claimed - 1).abs().max(), 0, INTEGRATED))
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
