"""Figure 1 of the supplement of Pretorius 2018: mappings of images by tanh networks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lindrop.base.arrays import Matrix, Vector
from lindrop.claims.checks import Check, Data, at_least, at_most
from lindrop.dropout.autoencoders.training import Network, Run
from lindrop.output.figures import panels
from lindrop.papers.pretorius2018.image_sets import MODES, title
from lindrop.papers.pretorius2018.learning import (
    EPOCHS_TOLERANCE,
    NAMES,
    OF_KIND,
    checks_by_set,
    half_learned,
    largest,
)
from lindrop.papers.pretorius2018.networks import network
from lindrop.papers.pretorius2018.published import ACTIVATION, SETTINGS, authors_curve, data_of
from lindrop.store.training_run import read_run

ROOM = 0.01  # tolerance of a mapping outside [0, 1]
LESS = 0.03  # least part that noise or weight decay take of a mapping; seeds differ by 0.003
SAMPLED = 100  # epochs between the points of Figure 1
WIDTHS = 1.8, 1.3, 0.9, 0.5  # line widths of the modes
DOTS: dict[str, Any] = {"ls": "", "marker": ".", "color": "k", "mew": 0}
SHOWN = {"relu": "ReLU"}
Source = Mapping[str, Any]


def data(networks: Sequence[str]) -> pd.DataFrame:
    """Mappings of all networks, read from the files of their trainings."""
    return network_curves(map(read_run, networks))


def network_curves(runs: Iterable[tuple[Run, Source]]) -> pd.DataFrame:
    """Mappings by network, mode (counted from 1) and measured epoch.

    `mapping` is estimated from reconstructions of corrupted images, as in the authors' code,
    `clean` from images without noise. `paper` is the authors' mapping, if the training is theirs.
    """
    return pd.concat((_curves(run, source) for run, source in runs), ignore_index=True)


def _curves(run: Run, source: Source) -> pd.DataFrame:
    """Mappings of one network by mode and epoch."""
    measured = np.array(run.measured)
    epoch, loss = measured[:, :2].T
    net = Network(**source["network"])
    paper = authors_mapping(source["images"], source["kind"], net, epoch.astype(int))
    modes = zip(*np.split(measured[:, 2:].T, 2), paper, strict=True)
    labels = {
        "images": title(source["images"]),
        "data": data_of(source["images"]),
        "activation": net.activation,
        "kind": source["kind"],
        "deviation": net.noise,
    }
    return pd.concat(
        pd.DataFrame(
            labels
            | {"mode": mode, "epoch": epoch.astype(int), "loss": loss}
            | {"mapping": mapping, "clean": clean, "paper": theirs}
        )
        for mode, (mapping, clean, theirs) in enumerate(modes, 1)
    )


def authors_mapping(images: Source, kind: str, net: Network, epochs: Vector) -> Matrix:
    """The authors' mappings, a row per mode; NaN unless the training is theirs but for its seed."""
    published, unknown = images["published"], np.full((MODES, len(epochs)), np.nan)
    if data_of(images) != "published":
        return unknown
    theirs = network(ACTIVATION, kind, SETTINGS[published], net.seed)
    if net != theirs:
        return unknown
    return authors_curve(published, "dae" if kind == "dae_variance" else kind, epochs)


def draw(curves: pd.DataFrame) -> Figure:
    """A panel per set of images, with the mappings of the first modes of every network."""
    sets = list(curves.groupby("images", sort=False))
    figure, axes = panels(len(sets), height=3.0)
    named: dict[str, Line2D] = {}
    for axis, (images, of_set) in zip(axes, sets, strict=True):
        activation = of_set["activation"].iloc[0]
        for kind, of_kind in of_set.groupby("kind", sort=False):
            solid = str(kind) != ("dae" if "dae_variance" in of_set["kind"].values else None)
            if activation == ACTIVATION:  # the authors' code has the deviation of "dae"
                solid = kind != "dae_variance"
            line = _draw_network(axis, of_kind, OF_KIND[str(kind)], "-" if solid else ":")
            named.setdefault(_label(str(kind), of_kind["deviation"].iloc[0]), line)
        axis.set_title(f"{images}: {SHOWN.get(activation, activation)}", loc="left")
        axis.set(xlabel="epoch")
    axes[0].set_ylabel("estimated identity mapping")
    for mode in range(1, curves["mode"].max() + 1):
        named[f"mode {mode}"] = Line2D([], [], color="grey", lw=WIDTHS[mode - 1])
    if curves["paper"].notna().any():
        named["the authors' curves"] = Line2D([], [], ms=4, **DOTS)
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4)
    return figure


def _draw_network(axis: Axes, curves: pd.DataFrame, colour: str, style: str) -> Line2D:
    """Draw the modes of a network, the first one with the widest line, and return its line."""
    lines = []
    tanh = curves["activation"].iloc[0] != ACTIVATION
    for (_, mode), width in zip(curves.groupby("mode"), WIDTHS, strict=False):
        hundreds = mode[mode["epoch"] // SAMPLED != mode["epoch"].shift() // SAMPLED]
        points = hundreds if tanh else mode
        marker: dict[str, Any] = {"marker": ".", "ms": 2 * width + 1} if tanh else {}
        lines += axis.plot(
            points["epoch"], points["mapping"], style, color=colour, lw=width, **marker
        )
        if style == "-":
            axis.plot(hundreds["epoch"], hundreds["paper"], ms=2.5, zorder=3, **DOTS)
    return lines[0]


def _label(kind: str, deviation: float) -> str:
    return f"DAE, σ² = {deviation**2:.3g}" if deviation else NAMES[kind]


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of the abstract's statement that noise acts like weight decay."""
    return checks_by_set("supp_fig1", as_printed(curves), (likeness_checks, range_checks))


def as_printed(curves: pd.DataFrame) -> pd.DataFrame:
    """Curves in which `dae` is the DAE with the printed variance of noise, where it was trained."""
    printed = curves["kind"] == "dae_variance"
    replaced = (curves["kind"] == "dae") & curves["images"].isin(curves["images"][printed])
    return curves[~replaced].replace({"kind": {"dae_variance": "dae"}})


def likeness_checks(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that noise shrinks mappings as weight decay does, and that only decay slows learning.

    Modes are those that all networks learn; the first one is learned within few steps by all, and
    hardly shrinks. Speed is measured by the epochs until half of the last mapping. Networks without
    noise or without decay fail.
    """
    half = half_learned(curves, "mapping").unstack("kind").dropna()
    ends = curves.groupby(["mode", "kind"])["mapping"].last().unstack("kind").loc[half.index]
    half, ends = half.drop(1, errors="ignore"), ends.drop(1, errors="ignore")
    what = f"{images}: modes {', '.join(map(str, half.index))}, the"
    for kind in ("dae", "wdae"):
        shrunk = largest(ends[kind] / ends["ae"])
        named = f"{what} largest last mapping, {NAMES[kind]} / AE"
        yield at_most(figure, named, shrunk, 1 - LESS, data=data)
    times = {"DAE / AE": ("dae", "ae"), "DAE / WDAE": ("dae", "wdae")}
    limits = {"DAE / AE": 1 + EPOCHS_TOLERANCE, "DAE / WDAE": 1 - EPOCHS_TOLERANCE}
    for of, (one, other) in times.items():
        named = f"{what} largest epochs to a half, {of}"
        yield at_most(figure, named, largest(half[one] / half[other]), limits[of], data=data)
    slowed = largest(half["ae"] / half["wdae"])
    named = f"{what} largest epochs to a half, AE / WDAE"
    yield at_most(figure, named, slowed, 1 - EPOCHS_TOLERANCE, data=data)


def range_checks(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of Section F: the estimated mapping is in [0, 1]."""
    claim, mapping = f"{figure}_range", curves["mapping"]
    yield at_least(claim, f"{images}: smallest mapping", mapping.min(), 0, ROOM, data=data)
    yield at_most(claim, f"{images}: largest mapping", mapping.max(), 1, ROOM, data=data)
