"""What the networks of Pretorius 2018 learn of images, as tables for figures and checks."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from lindrop.dropout.autoencoders.training import Network, Run
from lindrop.papers.pretorius2018.image_sets import MODES, title
from lindrop.papers.pretorius2018.networks import network
from lindrop.papers.pretorius2018.published import ACTIVATION, FINAL, SETTINGS, data_of

Source = Mapping[str, Any]


def network_curves(runs: Iterable[tuple[Run, Source]]) -> pd.DataFrame:
    """A row for every network, mode (from 1 on) and measured epoch.

    `mapping` is that of reconstructions of corrupted images, as in the authors' code, `clean` that
    of images without noise. `paper` is the authors' last mapping, where it is of this training.
    """
    return pd.concat((_curves(run, source) for run, source in runs), ignore_index=True)


def _curves(run: Run, source: Source) -> pd.DataFrame:
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
    """The authors' values, not numbers where the training is another one but for its seed."""
    published, unknown = images["published"], (np.nan,) * MODES
    if data_of(images) != "published":
        return unknown
    theirs = network(ACTIVATION, kind, SETTINGS[published], net.seed)
    final = FINAL[published]["dae" if kind == "dae_variance" else kind]
    return final if net == theirs else unknown
