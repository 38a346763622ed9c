"""Linear networks on images, an AE, a WDAE and a DAE, beside the theory of single modes.

The theory starts where the network does: nothing is fitted. Samples count by their mean, so that
λ/N, s² and γ act on a mode, and a step of gradient descent is one of time α.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.reporting import Progress
from lindrop.dropout.autoencoders.linear import scalar_start, train
from lindrop.dropout.autoencoders.weights import Weights, normal_weights
from lindrop.dropout.dynamics.descent import gradient_descent
from lindrop.dropout.dynamics.modes import Mode, Pair
from lindrop.dropout.dynamics.trajectories import trajectory
from lindrop.papers.pretorius2018.image_sets import ImageSet, title
from lindrop.papers.pretorius2018.published import data_of

MODES = np.array([0, 3, 7, 15, 31])  # of the authors' figure, counted from 0
START = 1e-4  # standard deviation of the first weights
SHOWN = 300  # epochs, evenly in log scale


def linear_curves(images: ImageSet, settings: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """From plain settings: hidden, rate, epochs, variance s² (of the DAE), decay γ (of the WDAE).

    A row for every network, mode (counted from 1) and epoch shown. `simulated` is the mapping of
    the network, `theory` the closed form, `stepwise` gradient descent on two weights per mode, and
    `fixed_point` where these end.
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
    """Of one network; all start at the same weights."""
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
    """The mapping of MODES by epoch."""
    progress = Progress("linear network", int(at[-1]), unit="epochs")
    found = []
    trained = train(weights, spectrum, at.tolist(), rate=rate, **strengths)
    for epoch, mapping in zip(at, trained, strict=True):
        progress.advance(int(epoch) - progress.done)
        found.append(mapping[MODES])
    return np.array(found)


def _stepwise(modes: list[Mode], rate: float, start: Pair, at: Vector) -> Matrix:
    path = gradient_descent(modes, [rate] * len(modes), *start, int(at[-1]))[at]
    return np.asarray(np.einsum("tkk->tk", path[:, 0] * path[:, 1]))
