"""A set of images in the form of MNIST, and its configuration."""

import gzip
import struct

import numpy as np

IMAGES = """
images:
  mnist:
    images: {%s: %s}
    labels: {%s: %s}
"""


def write_idx(folder, count=5):
    """Files in MNIST's form; returns what they hold."""
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = rng.integers(0, 10, count, dtype=np.uint8)
    for name, array in (("images.gz", pixels), ("labels.gz", labels)):
        header = struct.pack(f">I{array.ndim}I", 0x800 + array.ndim, *array.shape)
        with gzip.open(folder / name, "wb") as file:
            file.write(header + array.tobytes())
    return pixels, labels
