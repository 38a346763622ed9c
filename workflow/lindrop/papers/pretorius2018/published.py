"""Settings of the authors' public code on images (Pretorius 2018), and its final mappings.

The values are the last points of the curves that accompany the code, rounded.
"""

from collections.abc import Mapping
from typing import Any

from lindrop.claims.checks import Data
from lindrop.dropout.autoencoders.nonlinear import Activation
from lindrop.papers.pretorius2018.image_sets import SYNTHETIC

ACTIVATION: Activation = "relu"  # there is no public code for tanh
_SHARED = {"rate": 0.9, "epochs": 2000, "every": 10, "noise": 2.0, "decay": 0.0045}
SETTINGS = {
    "MNIST": {"count": 50_000, "hidden": 256} | _SHARED,
    "CIFAR-10": {"count": 30_000, "hidden": 512} | _SHARED,
}
FINAL = {  # mapping of modes 1 to 4
    "MNIST": {
        "ae": (1.0, 1.0, 0.999, 0.998),
        "wdae": (0.956, 0.588, 0.513, 0.432),
        "dae": (0.951, 0.583, 0.522, 0.489),
    },
    "CIFAR-10": {
        "ae": (1.0, 1.0, 1.0, 1.0),
        "wdae": (0.991, 0.716, 0.520, 0.001),
        "dae": (0.988, 0.733, 0.619, 0.465),
    },
}


def data_of(images: Mapping[str, Any]) -> Data:
    """Kind of data of a set's source: published only for the authors' set and number of images."""
    if images["layout"] == SYNTHETIC:
        return "synthetic"
    name = images["published"]
    return "published" if name and images["count"] == SETTINGS[name]["count"] else "other"
