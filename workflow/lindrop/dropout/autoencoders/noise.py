"""Gaussian noise, about three times as fast as NumPy's own, which takes half as long as all else.

NumPy draws normal numbers one by one. Its bits and its vectorised functions give them in pairs by
the transform of Box and Muller, to which float32 has no tail beyond 6.7 standard deviations.
"""

import numpy as np

from lindrop.base.arrays import Matrix

UNIT = np.float32(2.0**-31)  # of a signed integer of 32 bits
AT_ONCE = 24_000  # numbers: a larger array comes from the system, page by page, every time


def fill_normal(out: Matrix, deviation: float, rng: np.random.Generator) -> None:
    """Normal numbers of mean 0, in the precision of float32.

    A row takes the same number of bits wherever it is drawn: rows drawn in several calls are those
    of a single one.
    """
    rows = max(AT_ONCE // out.shape[1], 1)
    for start in range(0, len(out), rows):
        _fill(out[start : start + rows], deviation, rng)


def _fill(out: Matrix, deviation: float, rng: np.random.Generator) -> None:
    columns = out.shape[1]
    pairs, rest = (columns + 1) // 2, columns // 2
    bits = rng.integers(-(2**63), 2**63, (len(out), pairs)).view(np.int32)
    uniform = bits.astype(np.float32)
    uniform *= UNIT
    radius, angle = uniform[:, :pairs], uniform[:, pairs:]
    np.abs(radius, out=radius)
    radius += UNIT / 2  # never zero
    np.log(radius, out=radius)
    radius *= np.float32(-2 * deviation**2)
    np.sqrt(radius, out=radius)
    angle *= np.float32(np.pi)
    np.cos(angle, out=out[:, :pairs])
    np.sin(angle[:, :rest], out=out[:, pairs:])
    out[:, :pairs] *= radius
    out[:, pairs:] *= radius[:, :rest]
