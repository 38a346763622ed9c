"""Images that Pretorius 2018 trains on, or others, as bytes with the spectrum of X'X.

<set>.h5
pixels     uint8   images × inputs; X is pixels / 255
values     float   eigenvalues λ of X'X, descending
vectors    float   inputs × MODES: the leading eigenvectors
attribute  source  what the images are
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lindrop.base.arrays import Matrix, Vector
from lindrop.data.synthetic.images import natural_images
from lindrop.store.hdf5 import COMPRESSED, create_file, open_file

Bytes = npt.NDArray[np.uint8]

KIND = "image set/1"
MODES = 4  # number of modes in the figures of nonlinear networks
WHITE = np.float32(255)
ROWS = 2048  # rows of X at a time
SYNTHETIC = "synthetic"
PUBLISHED = {  # published sets by the sha256 of the file with the images
    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609": "MNIST",
    "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce": "CIFAR-10",
}


class ImageSet(NamedTuple):
    """Images with the spectrum of X'X.

    `source` holds name, layout, count, sha256 of the file, and the published set that this file
    proves.
    """

    pixels: Bytes
    values: Vector
    vectors: Matrix
    source: dict[str, Any]

    @property
    def x(self) -> Matrix:
        """X in float32: pixels / 255."""
        return _floats(self.pixels)


def published_set(
    name: str, images: Bytes, files: Mapping[str, Mapping[str, Any]], count: int
) -> ImageSet:
    """The first `count` images of a set; `files` are receipts of the files they were read from."""
    digest = next(iter(files.values()))["sha256"]  # the file with the images is the first
    source = {
        "name": name,
        "layout": name,
        "count": count,
        "sha256": digest,
        "published": PUBLISHED.get(digest),
    }
    return with_spectrum(images[:count].reshape(count, -1), source)


def synthetic_set(count: int, side: int, seed: int) -> ImageSet:
    """Random images with the spectrum of natural ones."""
    source = {
        "name": SYNTHETIC,
        "layout": SYNTHETIC,
        "count": count,
        "sha256": None,
        "published": None,
    }
    pixels = natural_images(count, side, np.random.default_rng(seed))
    return with_spectrum(pixels.reshape(count, -1), source)


def with_spectrum(pixels: Bytes, source: dict[str, Any]) -> ImageSet:
    """The image set of the given pixels, with the spectrum of X'X."""
    values, vectors = np.linalg.eigh(second_moment(pixels))
    leading = np.ascontiguousarray(vectors[:, : -MODES - 1 : -1])
    return ImageSet(pixels, np.maximum(values[::-1], 0), leading, source)


def second_moment(pixels: Bytes) -> Matrix:
    """X'X in float64, from products in float32 over blocks of rows."""
    total = np.zeros((pixels.shape[1],) * 2)
    for start in range(0, len(pixels), ROWS):
        rows = _floats(pixels[start : start + ROWS])
        total += rows.T @ rows
    return total


def title(source: dict[str, Any]) -> str:
    """Title of a panel: name of the set, "unverified" unless proven, and number of images."""
    name = source["published"] or f"{source['name']} (unverified)"
    return (
        f"{'synthetic images' if source['layout'] == SYNTHETIC else name}, N = {source['count']:,}"
    )


def write_image_set(path: str | Path, images: ImageSet) -> None:
    """Write an image set to an HDF5 file."""
    arrays = images._asdict()
    source = arrays.pop("source")
    with create_file(path, KIND, source, arrays.values()) as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values, **COMPRESSED)


def read_image_set(path: str | Path) -> ImageSet:
    """Image set of an HDF5 file."""
    with open_file(path, KIND) as file:
        pixels = file.array("pixels", "u", (None, None))
        inputs = pixels.shape[1]
        values = file.finite("values", (inputs,))
        vectors = file.finite("vectors", (inputs, min(MODES, inputs)))
        return ImageSet(pixels, values, vectors, file.source())


def _floats(pixels: Bytes) -> Matrix:
    x = pixels.astype(np.float32)
    x /= WHITE
    return x
