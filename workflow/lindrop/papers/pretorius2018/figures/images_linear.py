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
from lindrop.claims.checks import EXTENSION, Check, Data, at_most, equal
from lindrop.dropout.autoencoders.linear import expected_loss, scalar_start, train
from lindrop.dropout.autoencoders.weights import Weights, normal_weights
from lindrop.dropout.dynamics.descent import gradient_descent
from lindrop.dropout.dynamics.modes import Mode, Pair
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.output.figures import WIDTH, key
from lindrop.papers.pretorius2018.image_sets import ImageSet, read_image_set, title
from lindrop.papers.pretorius2018.learning import (
    EPOCHS_TOLERANCE,
    NAMES,
    OF_KIND,
    checks_by_set,
    half_learned,
    largest,
)
from lindrop.papers.pretorius2018.published import LINEAR, LOSS_EPOCHS, LOSSES, data_of

MODES = np.array([0, 3, 7, 15, 31])  # modes of the authors' figure, counted from 0
START = 1e-4  # standard deviation of the weights at the start
SHOWN = 300  # number of epochs shown, evenly spaced in log scale
AT_REST = 0.01  # largest distance of a mode at rest from its fixed point
CROSSES = 100  # epochs between the authors' crosses
LOSS_DIGITS = 1e-3  # relative tolerance of a loss for another random start
APART = 0.12  # least distance of neighbouring crosses, relative to the size of a panel
LEFT_AND_RIGHT = {"weight decay": ("ae", "wdae"), "noise": ("ae", "dae")}


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
    `stepwise` gradient descent on two weights per mode, and `fixed_point` the end of these. `loss`
    is the network's, and `paper` the authors', if images and settings are theirs.
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
    for kind, table in zip(kinds, tables, strict=True):
        table["paper"] = _authors_losses(images, settings, kind, table["epoch"])
    labels = {"images": title(images.source), "data": data_of(images.source)}
    found = pd.concat(tables, ignore_index=True).assign(**labels)
    columns = [column for column in tables[0].columns if column != "kind"]
    return found[[*labels, "kind", *columns]]


def _authors_losses(
    images: ImageSet, settings: Mapping[str, Any], kind: str, epochs: "pd.Series[int]"
) -> Vector:
    """The authors' losses by row; NaN at other epochs, and unless the training is theirs."""
    name = images.source["published"]
    theirs = data_of(images.source) == "published" and settings == LINEAR[name]
    losses = dict(zip(LOSS_EPOCHS, LOSSES[name][kind], strict=True)) if theirs else {}
    return np.asarray(epochs.map(losses).to_numpy(float))


def _curves(
    spectrum: Vector, settings: Mapping[str, Any], strengths: Mapping[str, float], seed: int
) -> pd.DataFrame:
    """Mappings of one network; all networks start at the same weights."""
    rate, epochs, rng = settings["rate"], settings["epochs"], np.random.default_rng(seed)
    shown = [*LOSS_EPOCHS, *np.geomspace(1, epochs, SHOWN).astype(int)]
    at = np.unique([epoch for epoch in shown if epoch <= epochs])
    weights = normal_weights(len(spectrum), settings["hidden"], START, rng, np.float32)
    w1, w2 = (each[MODES] for each in scalar_start(weights))
    modes = [Mode(lam, strengths["variance"], strengths["decay"]) for lam in spectrum[MODES]]
    flows = [trajectory(*each, rate * at) for each in zip(modes, w1, w2, strict=True)]
    simulated, loss = _simulated(weights, spectrum, at, rate, strengths)
    columns = {
        "simulated": simulated,
        "theory": np.prod(flows, axis=1).T,
        "stepwise": _stepwise(modes, rate, (w1, w2), at),
        "fixed_point": np.tile([mode.fixed_point for mode in modes], (len(at), 1)),
        "loss": np.tile(loss[:, None], len(MODES)),
    }
    epoch, mode = (axis.ravel() for axis in np.meshgrid(at, MODES + 1, indexing="ij"))
    flat = {name: values.ravel() for name, values in columns.items()}
    return pd.DataFrame({"mode": mode, "epoch": epoch, **flat})


def _simulated(
    weights: Weights, spectrum: Vector, at: Vector, rate: float, strengths: Mapping[str, float]
) -> tuple[Matrix, Vector]:
    """Mapping of MODES in the trained network, and its loss at LOSS_EPOCHS, by epoch."""
    progress = Progress("linear network", int(at[-1]), unit="epochs")
    found, losses = [], []
    trained = train(weights, spectrum, at.tolist(), rate=rate, **strengths)
    for epoch, mapping in zip(at, trained, strict=True):
        progress.advance(int(epoch) - progress.done)
        found.append(mapping[MODES])
        known = epoch in LOSS_EPOCHS
        losses.append(expected_loss(weights, spectrum, **strengths) if known else np.nan)
    return np.array(found), np.array(losses)


def _stepwise(modes: list[Mode], rate: float, start: Pair, at: Vector) -> Matrix:
    """Mapping of the modes by gradient descent on two weights each, by epoch."""
    path = gradient_descent(modes, [rate] * len(modes), *start, int(at[-1]))[at]
    return np.asarray(np.einsum("tkk->tk", path[:, 0] * path[:, 1]))


def draw(curves: pd.DataFrame) -> Figure:
    """A row per set of images: weight decay on the left, noise on the right, theory as lines."""
    sets = list(curves.groupby("images", sort=False))
    figure = Figure(figsize=(WIDTH, 2.3 * len(sets) + 0.5))
    grid = figure.subplots(len(sets), 2, squeeze=False, sharey=True, sharex="row")
    for row, (images, of_set) in zip(grid, sets, strict=True):
        for axis, (part, kinds) in zip(row, LEFT_AND_RIGHT.items(), strict=True):
            axis.set_title(f"{images}: {part}", loc="left")
            axis.set_xscale("log")
            axis.set(xlabel="epoch", ylim=(-0.05, 1.1))
            for kind in kinds:
                of_kind = of_set[(of_set["kind"] == kind) & (of_set["epoch"] > 0)]
                _draw_linear(axis, of_kind, OF_KIND[kind], NAMES[kind])
            _name_modes(axis, of_set[of_set["kind"] == kinds[0]])
        row[0].set_ylabel("identity mapping w₂w₁")
    key(figure, grid[0], 3)
    return figure


def _draw_linear(axis: Axes, curves: pd.DataFrame, colour: str, name: str) -> None:
    width = np.log(curves["epoch"].max())
    for number, (_, mode) in enumerate(curves.groupby("mode")):
        theory, simulated = (f"{name}, theory", f"{name}, network") if number == 0 else ("", "")
        axis.plot(mode["epoch"], mode["theory"], color=colour, lw=1, label=theory)
        seen = _spaced(np.log(mode["epoch"].to_numpy()) / width, mode["simulated"].to_numpy())
        style: dict[str, Any] = {"ls": "", "marker": "x", "ms": 3.5, "color": colour}
        axis.plot(mode["epoch"].iloc[seen], mode["simulated"].iloc[seen], label=simulated, **style)


def _spaced(x: Vector, y: Vector) -> list[int]:
    """Points of a curve from the second on that are at least APART from the one taken before."""
    taken = [0]
    for point in range(1, len(x)):
        if np.hypot(x[point] - x[taken[-1]], y[point] - y[taken[-1]]) >= APART:
            taken.append(point)
    return taken[1:]


def _name_modes(axis: Axes, curves: pd.DataFrame) -> None:
    """Write the number of each learned mode above the curve of the theory."""
    for number, mode in curves.groupby("mode"):
        learned = mode[mode["theory"] > 0.5 * mode["fixed_point"]]
        if len(learned):
            at = learned["epoch"].iloc[0]
            axis.text(at, 1.03, "mode 1" if number == 1 else str(number), ha="center")


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of where modes end, of when they are learned, and of losses."""
    return checks_by_set("images_linear", curves, (_rest, _times, _losses))


def _rest(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Check that modes at rest are at their fixed points."""
    ends = curves[curves["epoch"] == curves["epoch"].max()]
    rest = ends[(ends["theory"] - ends["fixed_point"]).abs() < AT_REST]
    distance = largest((rest["simulated"] - rest["fixed_point"]).abs())
    what = f"{images}: {len(rest)} modes at rest, largest distance to a fixed point"
    yield equal(f"{figure}_ends", what, distance, 0, 2 * AT_REST, data=data)


def _times(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of the epochs until half of the last mapping is learned.

    The closed form describes a flow; the first steps of mode 1 are so long that the flow is early,
    by few epochs. The authors' figure has a cross every 100 epochs.
    """
    learned, theory = (half_learned(curves, column) for column in ("simulated", "theory"))
    late = (learned - theory).abs().dropna()
    unseen = late / (EPOCHS_TOLERANCE * learned[late.index]).clip(CROSSES)
    what = f"{images}: epochs to half of the end, network less closed form, over"
    named = f"{what} the larger of {CROSSES} and a tenth of them: largest"
    yield at_most(figure, named, largest(unseen), 1, data=data)
    steps = largest((learned / half_learned(curves, "stepwise") - 1).abs().dropna())
    named = f"{images}: epochs to half of the end over those of the same steps on a mode, less 1"
    yield equal(figure, f"{named}: largest", steps, 0, EPOCHS_TOLERANCE, EXTENSION, data)


def _losses(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of losses against those that the authors' notebook printed."""
    known = curves[curves["loss"].notna() & (curves["mode"] == 1)]
    for kind, of_kind in known.groupby("kind", sort=False):
        error = (of_kind["loss"] / of_kind["paper"] - 1).abs()
        epochs = " and ".join(map(str, of_kind["epoch"].tolist()))
        what = (
            f"{images}: loss of the {NAMES[str(kind)]} over the authors', less 1, epochs {epochs}"
        )
        yield equal(f"{figure}_losses", what, largest(error), 0, LOSS_DIGITS, data=data)
