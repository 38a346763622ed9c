"""Autoencoders on images: the rate of an epoch relative to the rate of plain matrix products.

    OMP_NUM_THREADS=1 python benchmarks/autoencoders.py

One core is used, since the workflow trains one network per core. Epochs on random images (a tenth
as many as MNIST and CIFAR-10 have, of the same size) alternate with products of square matrices, so
that both see the same load of the machine; the best of several rounds are compared. An epoch counts
as its five matrix products, 10 N·inputs·hidden operations; noise, tanh and all else reduce its
rate. The rate gives the time of a network at the paper's size. Writes
benchmarks/results/autoencoders.csv.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from dropout_sgd import processor

from lindrop.base.parallel import thread_count
from lindrop.dropout.autoencoders.nonlinear import Modes, Noise, full_pass
from lindrop.dropout.autoencoders.weights import normal_weights
from lindrop.papers.pretorius2018.published import SETTINGS

OUTPUT = Path(__file__).resolve().parent / "results" / "autoencoders.csv"
EPOCHS = ["no noise", "noise"]  # kinds of epochs: without and with noise on the inputs
SHOWN = [
    *("images", "activation", "product, GFLOP/s"),
    *(f"{name}, {what}" for what in ("share", "minutes") for name in EPOCHS),
]
INPUTS = {"MNIST": 784, "CIFAR-10": 3072}
SHARE = 10  # the benchmark uses one of SHARE images
ROUNDS, SIDE = 8, 2048


def seconds(work: Callable[[], object]) -> float:
    """Wall time of a call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measured(images: str, activation: str) -> dict[str, object]:
    """Row of results for one image set and activation."""
    rng = np.random.default_rng(0)
    settings, inputs = SETTINGS[images], INPUTS[images]
    count, hidden = settings["count"] // SHARE, settings["hidden"]
    x, square = (rng.random(shape, np.float32) for shape in ((count, inputs), (SIDE, SIDE)))
    weights = normal_weights(inputs, hidden, 1e-3, rng, np.float32)
    modes = Modes.of(x, rng.normal(size=(inputs, 4)))
    noise = Noise(settings["noise"], rng)
    ways = {
        "product": lambda: square @ square,
        "no noise": lambda: full_pass(x, weights, activation, modes),
        "noise": lambda: full_pass(x, weights, activation, modes, noise),
    }
    rounds = [{name: seconds(way) for name, way in ways.items()} for _ in range(ROUNDS)]
    best = pd.DataFrame(rounds).min()
    operations, epoch = 2 * SIDE**3, 10 * count * inputs * hidden
    rates = {
        name: (operations if name == "product" else epoch) / best[name] / 1e9 for name in best.index
    }
    return {
        "images": images,
        "activation": activation,
        **{f"{name}, GFLOP/s": round(rate, 1) for name, rate in rates.items()},
        **{f"{name}, share": round(rates[name] / rates["product"], 3) for name in EPOCHS},
        **{
            f"{name}, minutes": round(best[name] * SHARE * settings["epochs"] / 60, 1)
            for name in EPOCHS
        },
    }


def main() -> None:
    rows = [measured(images, activation) for images in SETTINGS for activation in ("tanh", "relu")]
    table = pd.DataFrame(rows).assign(
        threads=thread_count(),
        load=round(os.getloadavg()[0], 1),
        processor=processor(),
        kernels=os.environ.get("OPENBLAS_CORETYPE", "default"),
        numpy=np.__version__,
    )
    table.to_csv(OUTPUT, index=False)
    print(table[SHOWN].astype(str).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main()
