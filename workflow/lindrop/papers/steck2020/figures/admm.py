"""Solvers of Eq. 10 of Steck 2020: gap by iteration of ADMM as published, corrected, and ALS."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix
from lindrop.base.errors import UserError
from lindrop.linalg.packed import PackedGram
from lindrop.linalg.spectrum import regularised_spectrum, ridge_regression
from lindrop.models.base import dropout_penalty
from lindrop.models.edlae.admm import Admm
from lindrop.models.edlae.als import ExactEncoder
from lindrop.models.edlae.as_published import notebook_admm, notebook_start, printed_admm
from lindrop.models.edlae.fit import automatic_omega
from lindrop.models.edlae.objective import Problem
from lindrop.output.figures import COLOURS, WIDTH, panels
from lindrop.store.gram import read_gram

ITEMS, RANK = 500, 50
P, RIDGE, OMEGA = 0.33, 400.0, 500.0  # values of the authors' notebook
MOST = 0.2  # largest λ over the mean of diag(X'X); a smaller λ scales ω alike
SHOWN, LONG, SWEEPS = 40, 600, 300  # iterations shown, of long ADMM runs, and of exact ALS
OMEGAS = {"small": 0.1, "automatic": 1.0, "large": 10.0}  # factors of the automatic ω

Iterates = Iterator[tuple[Matrix, Matrix]]


def data(gram: str) -> pd.DataFrame:
    """Objectives of every solver by iteration, from a dataset's file of X'X.

    Only the most popular items of the dataset are used.
    """
    return Comparison(read_gram(gram, room=True).matrix).curves()


class Comparison:
    """Eq. 10 on the most popular items of a dataset, in float64, with all its solvers."""

    def __init__(self, gram: Matrix, items: int = ITEMS, rank: int = RANK):
        popular = np.sort(np.argsort(-gram.diagonal(), kind="stable")[:items])
        self.gram = gram[np.ix_(popular, popular)].astype(float)
        self.rank = min(rank, max(1, len(self.gram) // 5))
        diagonal = self.gram.diagonal().copy()
        self.ridge = min(RIDGE, MOST * float(diagonal.mean()))
        self.problem = Problem(diagonal, dropout_penalty(diagonal, P, self.ridge))
        packed = self._packed(self.problem.penalty)
        _, self.start = regularised_spectrum(packed, self.problem.penalty, self.rank, seed=0)
        random = notebook_start(len(self.gram), self.rank)
        problem = self.gram, P, self.ridge, self.ridge * OMEGA / RIDGE
        self.published = {
            "notebook's ADMM": notebook_admm(*problem, random),
            "printed ADMM": printed_admm(*problem, random),
            # ω = λ: of p/(2 − p) and (λ − ω)/2 = 0 it is the EDLAE of p and λ (E3)
            "printed ADMM, retuned": printed_admm(self.gram, P / (2 - P), 0.0, self.ridge, random),
        }
        self.corrected = {
            f"corrected ADMM, {name} ω": self._admm(factor) for name, factor in OMEGAS.items()
        }

    def curves(self, shown: int = SHOWN, long: int = LONG, sweeps: int = SWEEPS) -> pd.DataFrame:
        """Objective of every iterate (U, V), and its gap to the lowest value of any long run.

        Long runs are the corrected ADMM at every ω and exact ALS.
        """
        runs = {name: self._objectives(run, shown) for name, run in self.published.items()}
        for name, run in self.corrected.items():
            runs[name] = self._objectives(run, long)
        runs["exact ALS"] = self._objectives(self._exact_als(self.start), sweeps)
        lowest = float(np.nanmin(np.concatenate(list(runs.values()))))
        facts = {"items": len(self.gram), "rank": self.rank, "p": P, "lambda": self.ridge}
        return pd.DataFrame(
            [
                facts
                | {
                    "solver": name,
                    "iteration": iteration,
                    "objective": value,
                    "lowest_objective": lowest,
                    "gap": (value - lowest) / lowest,
                }
                for name, values in runs.items()
                for iteration, value in enumerate(values[:shown], 1)
            ]
        )

    def _packed(self, penalty: Matrix) -> PackedGram:
        packed = PackedGram(self.gram.copy())
        packed.invert(penalty)
        return packed

    def _admm(self, factor: float) -> Iterates:
        problem = self.problem
        scale = automatic_omega(problem.gram_diagonal + problem.penalty)
        omega = problem.penalty + factor * scale
        packed = self._packed(problem.penalty + omega)
        encoder = ridge_regression(packed, problem.penalty + omega, self.start)
        run = Admm(packed, problem, omega, encoder, self.start)
        while True:
            run.step()
            yield run.u, run.v

    def _exact_als(self, v: Matrix) -> Iterates:
        packed = self._packed(self.problem.penalty)
        best_encoder = ExactEncoder(packed, self.problem)
        u = ridge_regression(packed, self.problem.penalty, v)
        while True:
            v = self.problem.best_decoder(u, packed.gram_times(u))
            yield u, v
            u = best_encoder(v)

    def _objectives(self, iterates: Iterates, count: int) -> list[float]:
        """Objectives of the first iterates, fewer than `count` if the solver diverges."""
        values = []
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError, UserError):
            for u, v in islice(iterates, count):
                values.append(self.problem.objective(u, v, self.gram @ u))
        return values


STYLES = {
    "notebook's ADMM": (COLOURS[1], "-"),
    "printed ADMM": (COLOURS[4], "-."),
    "printed ADMM, retuned": (COLOURS[4], "-"),
    "corrected ADMM, small ω": (COLOURS[5], ":"),
    "corrected ADMM, automatic ω": (COLOURS[0], "-"),
    "corrected ADMM, large ω": (COLOURS[5], "--"),
    "exact ALS": (COLOURS[6], "-"),
}
TOP, LEAST = 2.0, 1e-10  # ends of the axis
CHOSEN = 5, 20  # iterations among which the notebook chooses by validation


def draw(data: pd.DataFrame) -> Figure:
    """Relative gap by iteration; curves that leave the axis at the top are marked there."""
    figure, (axis,) = panels(1, height=2.7)
    figure.set_figwidth(0.8 * WIDTH)
    for solver, (colour, line) in STYLES.items():
        curve = data[data["solver"] == solver]
        gap = curve["gap"].replace(np.inf, np.nan)
        width = 1.0 if colour == COLOURS[5] else 1.5
        axis.semilogy(curve["iteration"], gap, line, color=colour, lw=width, label=solver)
        if (gap > TOP).any():
            power = int(np.log10(gap.max()))
            place = curve["iteration"][gap > TOP].iloc[0], TOP
            axis.plot(*place, "^", color=colour, ms=5, clip_on=False)
            axis.annotate(
                f"diverges, up to $10^{{{power}}}$",
                place,
                xytext=(5, -8),
                textcoords="offset points",
                color=colour,
                fontsize=7,
            )
    axis.axvspan(*CHOSEN, color="0.93", lw=0, zorder=0, label="notebook's choice")
    least = data.loc[data["gap"] > LEAST, "gap"].min()
    axis.set_ylim(10 ** np.floor(np.log10(least)), TOP)
    axis.set_xlim(0, data["iteration"].max() + 1)
    facts = data.iloc[0]
    axis.set_title(
        f"{facts['items']:,} items, rank {facts['rank']}, p = {facts['p']:g}, "
        f"λ = {facts['lambda']:.3g}",
        loc="left",
    )
    axis.set(xlabel="iteration", ylabel="relative gap $(f - f^*) / f^*$ of Eq. 10")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right upper")
    return figure
