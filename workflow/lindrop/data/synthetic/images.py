"""Grey images that no camera took, with the statistics of those that one takes.

Pixels of natural images have a power spectrum that falls as 1/f². A Gaussian field with this
spectrum has no edges and no objects, but what a linear network sees of images: covariances.
"""

import numpy as np
import numpy.typing as npt

from lindrop.base.arrays import Matrix

CONTRAST = 0.25  # standard deviation of a pixel; 5 % of them are cut off at black or white
STRETCH = 1.5  # of the fields along a row: landscapes are wider than high
PERIOD = 4  # of a field, in sides of an image
WHITE = 255


def natural_images(count: int, side: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """count × side × side grey levels.

    Fields are periodic; an image is a small part of one, so that its opposite edges differ, and
    so does the brightness of two images.
    """
    period = PERIOD * side
    amplitude = amplitudes(period)
    spectrum = rng.normal(size=(2, count, *amplitude.shape)) * amplitude
    fields = np.fft.irfft2(spectrum[0] + 1j * spectrum[1], (period, period))[:, :side, :side]
    grey = 0.5 + CONTRAST * fields / fields.std()
    return np.asarray(np.rint(np.clip(grey, 0, 1) * WHITE), np.uint8)


def amplitudes(side: int) -> Matrix:
    """1/f at the frequencies of a real field; nothing at 0, the mean over a whole field."""
    rows, columns = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)
    frequency = np.hypot(rows, STRETCH * columns)
    frequency[0, 0] = np.inf
    return np.asarray(1 / frequency)
