"""Figure 1 of the supplement of Pretorius 2018: mappings of images by tanh networks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
from lindrop.papers.pretorius2018.published import ACTIVATION, FINAL, SETTINGS, data_of
from lindrop.store.training_run import read_run

ROOM = 0.01  # tolerance of a mapping outside [0, 1]
TRIANGLE: dict[str, Any] = {"ls": "", "marker": "<", "ms": 3.5}
SHOWN = {"relu": "ReLU"}
Source = Mapping[str, Any]


def data(networks: Sequence[str]) -> pd.DataFrame:
    """Mappings of all networks, read from the files of their trainings."""
    return network_curves(map(read_run, networks))


def network_curves(runs: Iterable[tuple[Run, Source]]) -> pd.DataFrame:
    """Mappings by network, mode (counted from 1) and measured epoch.

    `mapping` is estimated from reconstructions of corrupted images, as in the authors' code,
    `clean` from images without noise. `paper` is the authors' last mapping, if the training is
    theirs.
    """
    return pd.concat((_curves(run, source) for run, source in runs), ignore_index=True)


def _curves(run: Run, source: Source) -> pd.DataFrame:
    """Mappings of one network by mode and epoch."""
    measured = np.array(run.measured)
    epoch, loss = measured[:, :2].T
    net = Network(**source["network"])
    paper = final_mapping(source["images"], source["kind"], net)
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
            | {"mapping": mapping, "clean": clean, "paper": last}
        )
        for mode, (mapping, clean, last) in enumerate(modes, 1)
    )


def final_mapping(images: Source, kind: str, net: Network) -> tuple[float, ...]:
    """The authors' last mappings; NaN unless images and settings (but the seed) are theirs."""
    published, unknown = images["published"], (np.nan,) * MODES
    if data_of(images) != "published":
        return unknown
    theirs = network(ACTIVATION, kind, SETTINGS[published], net.seed)
    final = FINAL[published]["dae" if kind == "dae_variance" else kind]
    return final if net == theirs else unknown


def draw(curves: pd.DataFrame) -> Figure:
    """A panel per set of images, with the mappings of the first modes of every network.

    Mode 1 is the topmost curve.
    """
    sets = list(curves.groupby("images", sort=False))
    figure, axes = panels(len(sets), height=2.8)
    for axis, (images, of_set) in zip(axes, sets, strict=True):
        for kind, of_kind in of_set.groupby("kind", sort=False):
            _draw_network(axis, of_kind, str(kind))
        if of_set["paper"].notna().any():
            axis.plot([], [], color="k", label="the authors' last values", **TRIANGLE)
        activation = SHOWN.get(of_set["activation"].iloc[0], "tanh")
        axis.set_title(f"{images}: {activation}", loc="left")
        axis.set(xlabel="epoch")
        axis.legend()
    axes[0].set_ylabel("estimated identity mapping")
    return figure


def _draw_network(axis: Axes, curves: pd.DataFrame, kind: str) -> None:
    colour, dots = OF_KIND[kind], ":" if kind == "dae_variance" else "-"
    for number, (_, mode) in enumerate(curves.groupby("mode")):
        label = _label(kind, mode["deviation"].iloc[0]) if number == 0 else ""
        width = 1.25 - 0.2 * number
        axis.plot(mode["epoch"], mode["mapping"], dots, color=colour, lw=width, label=label)
        if kind != "dae_variance":
            last = mode.iloc[-1:]
            axis.plot(last["epoch"], last["paper"], color=colour, **TRIANGLE)


def _label(kind: str, deviation: float) -> str:
    return f"DAE, σ² = {deviation**2:.3g}" if deviation else NAMES[kind]


def checks(curves: pd.DataFrame) -> list[Check]:
    """Checks of the abstract's statement that noise acts like weight decay."""
    return checks_by_set("supp_fig1", curves, (likeness_checks, range_checks))


def likeness_checks(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks that noise shrinks a mapping as weight decay does, but learns faster.

    Speed is measured by the epochs until half of the last mapping, for modes that all networks
    learn.
    """
    half = half_learned(curves, "mapping").unstack("kind").dropna()
    ends = curves.groupby(["mode", "kind"])["mapping"].last().unstack("kind").loc[half.index]
    what = f"{images}: modes {', '.join(map(str, half.index))}, the largest"
    ratios = {
        "last mapping, DAE / AE": (ends["dae"] / ends["ae"], 0),
        "last mapping, WDAE / AE": (ends["wdae"] / ends["ae"], 0),
        "epochs to a half, DAE / WDAE": (half["dae"] / half["wdae"], EPOCHS_TOLERANCE),
        "epochs to a half, DAE / AE": (half["dae"] / half["ae"], EPOCHS_TOLERANCE),
    }
    for of, (ratio, tolerance) in ratios.items():
        yield at_most(figure, f"{what} {of}", largest(ratio), 1, tolerance, data=data)


def range_checks(figure: str, images: str, data: Data, curves: pd.DataFrame) -> Iterator[Check]:
    """Checks of Section F: the estimated mapping is in [0, 1]."""
    claim, mapping = f"{figure}_range", curves["mapping"]
    yield at_least(claim, f"{images}: smallest mapping", mapping.min(), 0, ROOM, data=data)
    yield at_most(claim, f"{images}: largest mapping", mapping.max(), 1, ROOM, data=data)
