"""Checksum of large arrays, fast enough to be computed while a file is read.

Every 256 bytes are 64 words of 32 bits, one for each of 64 lanes. A lane takes a word w as
h ← (h ^ w) K and h ← h ^ (h >> 15). Both are one-to-one in h for a given w and in w for a given h,
so a change within one word always changes the result. Other changes stay unseen with a probability
of at most 2⁻³². Compilers turn the loop over the lanes into vector instructions.

The checksum finds errors of disks and of transfers. It does not protect against forgery.
"""

import numpy as np
import numpy.typing as npt

from lindrop.linalg.kernels import Array, compiled

LANES = 64
ROW_BYTES = 4 * LANES

Bytes = npt.NDArray[np.uint8]


def checksum(data: Bytes) -> int:
    """Checksum of contiguous bytes, between 0 and 2⁶⁴ - 1."""
    whole = len(data) - len(data) % ROW_BYTES
    rest = np.zeros(ROW_BYTES, np.uint8)
    rest[: len(data) - whole] = data[whole:]
    lanes = np.arange(LANES, dtype=np.uint32)
    _take_words(data[:whole].view(np.uint32), lanes)
    _take_words(rest.view(np.uint32), lanes)
    return fold(lanes.astype(np.uint64), len(data))


def fold(values: Array, start: int) -> int:
    """One number for unsigned 64-bit integers, in their order; `start` is another such number."""
    return int(_fold(values, np.uint64(start)))


@compiled
def _take_words(words: Array, lanes: Array) -> None:
    """Update the lanes by words, whose number is a multiple of the number of lanes."""
    factor, shift = np.uint32(0x9E3779B1), np.uint32(15)  # 2³² divided by the golden ratio
    for first in range(0, len(words), LANES):
        for lane in range(LANES):
            mixed = np.uint32((lanes[lane] ^ words[first + lane]) * factor)
            lanes[lane] = mixed ^ (mixed >> shift)


@compiled
def _fold(values: Array, start: np.uint64) -> np.uint64:
    """Mix 64-bit integers one by one."""
    factor, shift = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
    mixed = start
    for value in values:
        mixed = (mixed ^ value) * factor
        mixed ^= mixed >> shift
    return mixed
