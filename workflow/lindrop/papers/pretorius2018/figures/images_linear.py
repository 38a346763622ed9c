"""Linear AE, WDAE and DAE on images, against the theory of single modes (Pretorius 2018).

The theory starts where the network does, and nothing is fitted. Losses are means over samples, so a
mode has λ/N, s² and γ, and a step of gradient descent takes the time α.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.reporting import Progress
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Data, Form, equal
from lindrop.dropout.autoencoders.linear import scalar_start, train
from lindrop.dropout.autoencoders.weights import Weights, normal_weights
from lindrop.dropout.dynamics.descent import gradient_descent
from lindrop.dropout.dynamics.modes import Mode, Pair
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.output.figures import WIDTH
from lindrop.papers.pretorius2018.image_sets import ImageSet, read_image_set, title
from lindrop.papers.pretorius2018.learning import (
    EPOCHS_TOLERANCE,
    NAMES,
    OF_KIND,
    checks_by_set,
    half_learned,
    largest,
)
from lindrop.papers.pretorius2018.published import data_of

MODES = np.array([0, 3, 7, 15, 31])  # modes of the authors' figure, counted from 0
START = 1e-4  # standard deviation of the weights at the start
SHOWN = 300  # number of epochs shown, evenly spaced in log scale
AT_REST = 0.01  # largest distance of a mode at rest from its fixed point
SEEN = 4  # epochs shown per cross in the figure
LEFT_AND_RIGHT = {"weight decay": ("ae", "wdae"), "noise": ("ae", "dae")}
THEORIES: dict[str, tuple[str, Form]] = {
    "theory": ("the closed form", PRINTED),
    "stepwise": ("the same steps on a mode alone", CORRECTED),
}


def data(sets: Sequence[str], settings: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """Mappings of the networks on every set of images, by mode and epoch."""
    return pd.concat(
        linear_curves(images, settings[images.source["name"]], seed)
        for images in map(read_image_set, sets)
    )


def linear_curves(images: ImageSet, settings: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """Mappings of the three networks on one set of images, by mode and epoch.

    `settings` has hidden, rate, epochs, variance (s² of the DAE) and decay (γ of the WDAE). Modes
    are counted from 1. `simulated` is the mapping of the network, `theory` the closed form,
    `stepwise` gradient descent on two weights per mode, and `fixed_point` the end of these.
    """
    kinds = {
        "ae": {"variance": 0.0, "decay": 0.0},
        "wdae": {"variance": 0.0, "decay": settings["decay"]},
        "dae": {"variance": settings["variance"], "decay": 0.0},
    }
    spectrum = images.values / images.source["count"]
    tables = [
        _curves(spectrum, settings, strengths, seed).assign(kind=kind)
        for kind, strengths in kinds.items()
    ]
    labels = {"images": title(images.source), "data": data_of(images.source)}
    found = pd.concat(tables, ignore_index=True).assign(**labels)
    return found[[*labels, "kind", *tables[0].columns[:-1]]]


def _curves(
    spectrum: Vector, settings: Mapping[str, Any], strengths: Mapping[str, float], seed: int
) -> pd.DataFrame:
    """Mappings of one network; all networks start at the same weights."""
    rate, epochs, rng = settings["rate"], settings["epochs"], np.random.default_rng(seed)
    at = np.unique([0, *np.geomspace(1, epochs, SHOWN).astype(int)])
    weights = normal_weights(len(spectrum), settings["hidden"], START, rng, np.float32)
    w1, w2 = (each[MODES] for each in scalar_start(weights))
    modes = [Mode(lam, strengths["variance"], strengths["decay"]) for lam in spectrum[MODES]]
    flows = [trajectory(*each, rate * at) for each in zip(modes, w1, w2, strict=True)]
    columns = {
        "simulated": _simulated(weights, spectrum, at, rate, strengths),
        "theory": np.prod(flows, axis=1).T,
        "stepwise": _stepwise(modes, rate, (w1, w2), at),
        "fixed_point": np.tile([mode.fixed_point for mode in modes], (len(at), 1)),
    }
    epoch, mode = (axis.ravel() for axis in np.meshgrid(at, MODES + 1, indexing="ij"))
    flat = {name: values.ravel() for name, values in columns.items()}
    return pd.DataFrame({"mode": mode, "epoch": epoch, **flat})


def _simulated(
    weights: Weights, spectrum: Vector, at: Vector, rate: float, strengths: Mapping[str, float]
) -> Matrix:
    """Mapping of MODES in the trained network, by epoch."""
    progress = Progress("linear network", int(at[-1]), unit="epochs")
    found = []
    trained = train(weights, spectrum, at.tolist(), rate=rate, **strengths)
    for epoch, mapping in zip(at, trained, strict=True):
        progress.advance(int(epoch) - progress.done)
        found.append(mapping[MODES])
    return np.array(found)


def _stepwise(modes: list[Mode], rate: float, start: Pair, at: Vector) -> Matrix:
    """Mapping of the modes by gradient descent on two weights each, by epoch."""
    path = gradient_descent(modes, [rate] * len(modes), *start, int(at[-1]))[at]
    return np.asarray(np.einsum("tkk->tk", path[:, 0] * path[:, 1]))


def draw(curves: pd.DataFrame) -> Figure:
    """A row per set of images: weight decay on the left, noise on the right, theory as lines."""
    sets = list(curves.groupby("images", sort=False))
    figure = Figure(figsize=(WIDTH, 2.4 * len(sets)))
    grid = figure.subplots(len(sets), 2, squeeze=False, sharey=True, sharex="row")
    for row, (images, of_set) in zip(grid, sets, strict=True):
        for axis, (part, kinds) in zip(row, LEFT_AND_RIGHT.items(), strict=True):
            for kind in kinds:
                _draw_linear(axis, of_set[of_set["kind"] == kind], OF_KIND[kind], NAMES[kind])
            axis.set_title(f"{images}: {part}", loc="left")
            axis.set_xscale("symlog", linthresh=1)
            axis.set(xlabel="epoch", ylim=(-0.05, 1.1))
            axis.legend(loc="upper left")
        row[0].set_ylabel("identity mapping w₂w₁")
    return figure


def _draw_linear(axis: Axes, curves: pd.DataFrame, colour: str, name: str) -> None:
    for number, (_, mode) in enumerate(curves.groupby("mode")):
        theory, simulated = (f"{name}, theory", f"{name}, network") if number == 0 else ("", "")
        axis.plot(mode["epoch"], mode["theory"], color=colour, lw=1, label=theory)
        style: dict[str, Any] = {
            "ls": "",
            "marker": "x",
            "ms": 3,
            "markevery": SEEN,
            "color": colour,
        }
        axis.plot(mode["epoch"], mode["simulated"], label=simulated, **style)


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of where modes end, and of when they are learned."""
    return checks_by_set("images_linear", curves, (_rest, _times))


def _rest(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Check that modes at rest are at their fixed points."""
    ends = curves[curves["epoch"] == curves["epoch"].max()]
    rest = ends[(ends["theory"] - ends["fixed_point"]).abs() < AT_REST]
    distance = largest((rest["simulated"] - rest["fixed_point"]).abs())
    what = f"{images}: {len(rest)} modes at rest, largest distance to a fixed point"
    yield equal(f"{figure}_ends", what, distance, 0, 2 * AT_REST, data=data)


def _times(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of the epochs until half of the last mapping is learned.

    The closed form describes a flow; the first steps of mode 1 are so long that the flow is early.
    """
    learned = half_learned(curves, "simulated")
    for column, (of, form) in THEORIES.items():
        late = largest((learned / half_learned(curves, column) - 1).abs().dropna())
        what = f"{images}: epochs to half of the end, largest relative distance to {of}"
        yield equal(figure, what, late, 0, EPOCHS_TOLERANCE, form, data)
