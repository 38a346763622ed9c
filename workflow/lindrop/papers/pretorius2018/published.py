"""Settings of the authors' public code on images (Pretorius 2018), and what it found.

curves.csv holds the curves that accompany the code (data/*.npy of arnupretorius/
lindaedynamics_icml2018, MIT licence), rounded to six decimals: the estimated mapping of four modes
of ReLU networks every 10 epochs. LOSSES are those that its notebook of Figure 5 printed.
"""

import hashlib
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.errors import UserError
from lindrop.claims.checks import Data
from lindrop.dropout.autoencoders.nonlinear import Activation
from lindrop.papers.pretorius2018.image_sets import SYNTHETIC

ACTIVATION: Activation = "relu"  # there is no public code for tanh
_SHARED = {"rate": 0.9, "epochs": 2000, "every": 10, "noise": 2.0, "decay": 0.0045}
SETTINGS = {
    "MNIST": {"count": 50_000, "hidden": 256} | _SHARED,
    "CIFAR-10": {"count": 30_000, "hidden": 512} | _SHARED,
}
LINEAR = {
    "MNIST": {"hidden": 256, "rate": 0.01, "epochs": 5000, "variance": 0.5, "decay": 0.5},
    "CIFAR-10": {"hidden": 512, "rate": 0.001, "epochs": 5000, "variance": 0.5, "decay": 0.5},
}
LOSS_EPOCHS = 0, 4900
LOSSES = {  # of linear networks, at LOSS_EPOCHS
    "MNIST": {"ae": (44.029, 3.9355), "wdae": (44.029, 17.3173), "dae": (44.029, 10.8694)},
    "CIFAR-10": {"ae": (441.49, 24.6210), "wdae": (441.49, 34.8997), "dae": (441.49, 28.5896)},
}
CURVES = Path(__file__).parent / "curves.csv"
SHA256 = "bb5cddd83e0376407c1e9826f6d96887514a0f3d375164cba42f2360f6f405f9"
SOURCES = {  # sha256 of the authors' files, by set of images and kind of network
    ("MNIST", "ae"): "b5f5bf5e3ce8c876e2ad3c8ded6ead35a8e71702c9791aa3c947beccef7a460b",
    ("MNIST", "wdae"): "b81c0aec4aa599e02a21ca2e1c06e3a06b943c89afd69ff86206b661cfee35ad",
    ("MNIST", "dae"): "524581560387425757f6e8e539b0843661e13c1acc72f5e2afb7358ee44c1ee7",
    ("CIFAR-10", "ae"): "706c43fb70f1bb6812bca4b87fd7c5000164108cf0cfcc8dc9201490955ae163",
    ("CIFAR-10", "wdae"): "486bb116e5a0d0d0bd469b64f6234ea9ab0a7a9242d39ca3870f61f39a8671d4",
    ("CIFAR-10", "dae"): "2ac409893b95eec263769e556e1355732fffa5b01f3b7baecac959e067944c10",
}


@cache
def curves() -> pd.DataFrame:
    """The authors' curves: images, epoch, mode, and the mapping of ae, wdae and dae.

    UserError if the file is not the one that was compared with theirs.
    """
    content = CURVES.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise UserError(f"{CURVES}: differs from the authors' curves; restore the file")
    return pd.read_csv(io.BytesIO(content))


def authors_curve(images: str, kind: str, epochs: Vector) -> Matrix:
    """The authors' mappings at the given epochs, a row per mode; NaN where they have none."""
    of_set = curves()[curves()["images"] == images]
    by_epoch = of_set.pivot(index="epoch", columns="mode", values=kind)
    return np.asarray(by_epoch.reindex(epochs).to_numpy().T)


def data_of(images: Mapping[str, Any]) -> Data:
    """Kind of data of a set's source: published only for the authors' set and number of images."""
    if images["layout"] == SYNTHETIC:
        return "synthetic"
    name = images["published"]
    return "published" if name and images["count"] == SETTINGS[name]["count"] else "other"
