"""Read and write images.h5: a set of images with labels.

images   uint8[n, ...]   grey levels n × rows × columns, or n × colours × rows × columns
labels   uint8[n]        0 to 9
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lindrop.base.errors import UserError
from lindrop.store.checks import within
from lindrop.store.hdf5 import COMPRESSED, Source, create_file, open_file

KIND = "images/1"

Bytes = npt.NDArray[np.uint8]


def write_images(path: str | Path, images: Bytes, labels: Bytes, source: Source) -> None:
    """Write images and their labels; `source` holds the receipt of each published file."""
    with create_file(path, KIND, source, (images, labels)) as file:
        file.create_dataset("images", data=images, **COMPRESSED)
        file.create_dataset("labels", data=labels)


def read_images(path: str | Path, first: int | None = None) -> tuple[Bytes, Bytes, dict[str, Any]]:
    """Images, labels and source; with `first`, so many images, or UserError if there are fewer."""
    with open_file(path, KIND) as file:
        shape = file.shape("images")
        file.require(len(shape) in (3, 4), f"images is {shape}")
        if first is not None and shape[0] < first:
            name = Path(path).stem
            raise UserError(f"{name}: {first} images asked for, {shape[0]} are there; lower count")
        images = file.array("images", "u", shape, first)
        labels = file.array("labels", "u", shape[:1], first)
        file.require(within(labels, 10), "a label is more than 9")
        return images, labels, file.source()
