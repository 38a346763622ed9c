"""Read and write training.h5: the last checkpoint of the training of an autoencoder.

w1          float32   hidden × inputs
w2          float32   inputs × hidden
measured    float     rows of `Run.measured`
attributes  epoch, source (JSON: what the training depends on)

After the last epoch, the checkpoint is the result.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lindrop.base.reporting import logger
from lindrop.dropout.autoencoders.training import Run
from lindrop.dropout.autoencoders.weights import Weights
from lindrop.store.hdf5 import create_file, open_file

KIND = "training/1"


def write_run(path: str | Path, run: Run, source: Mapping[str, Any]) -> None:
    """Write a checkpoint; `source` is what the training depends on."""
    arrays = {**run.weights._asdict(), "measured": np.array(run.measured)}
    with create_file(path, KIND, source, arrays.values()) as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values)
        file.attrs["epoch"] = run.epoch


def read_run(path: str | Path) -> tuple[Run, dict[str, Any]]:
    """A run and its source, as given to `write_run`."""
    with open_file(path, KIND) as file:
        w1 = file.array("w1", "f", (None, None))
        weights = Weights(w1, file.array("w2", "f", w1.shape[::-1]))
        shape = file.shape("measured")
        file.require(len(shape) == 2 or shape == (0,), f"measured is {shape}")
        measured = file.array("measured", "f", shape)
        epoch = int(file.attrs["epoch"])
        file.require(epoch >= 0, f"epoch is {epoch}")
        return Run(epoch, weights, measured.tolist()), file.source()


def resumed(path: str | Path, source: Mapping[str, Any]) -> Run | None:
    """The run of a checkpoint, or None if there is none or it belongs to another training."""
    if not Path(path).exists():
        return None
    run, of = read_run(path)
    if of != source:
        logger.info("%s: belongs to another training; starting over", path)
        return None
    logger.info("%s: %d epochs are done", path, run.epoch)
    return run
