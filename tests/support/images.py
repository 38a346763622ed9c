"""Images in the published forms: files of MNIST, their configuration, and batches of CIFAR-10."""

import gzip
import struct

import numpy as np

IMAGES = """
images:
  mnist:
    images: {%s: %s}
    labels: {%s: %s}
"""


def idx(array, magic=None, shape=None):
    """An idx file of bytes; by default what it announces is true."""
    magic, shape = magic or 0x800 + array.ndim, shape or array.shape
    return struct.pack(f">I{len(shape)}I", magic, *shape) + array.tobytes()


def batch_pickle(pixels, labels, dtype=b"u1"):
    """What Python 2 wrote, opcode by opcode: today's pickles do not have its strings."""

    def text(value):
        return b"U" + bytes([len(value)]) + value

    def number(value):
        return b"J" + struct.pack("<i", value)

    data = pixels.tobytes()
    kind = b"cnumpy\ndtype\n" + text(dtype) + number(0) + number(1) + b"\x87R("
    kind += number(3) + text(b"|") + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + number(0) + b"\x85"
    array += text(b"b") + b"\x87R(" + number(1) + b"".join(map(number, pixels.shape)) + b"\x86"
    array += kind + b"\x89T" + struct.pack("<i", len(data)) + data + b"tb"
    listed = b"](" + b"".join(map(number, labels)) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(b"labels") + listed + b"u."


def write_idx(folder, count=5):
    """Files in MNIST's form; returns what they hold."""
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    labels = rng.integers(0, 10, count, dtype=np.uint8)
    for name, array in (("images.gz", pixels), ("labels.gz", labels)):
        (folder / name).write_bytes(gzip.compress(idx(array)))
    return pixels, labels
