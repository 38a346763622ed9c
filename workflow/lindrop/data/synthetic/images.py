"""Generate grey images with the second-order statistics of photographs.

The power spectrum of natural images falls as 1/f². A Gaussian field with this spectrum has no edges
and no objects, but its covariances, all that a linear network uses, resemble those of photographs.
"""

import numpy as np
import numpy.typing as npt

from lindrop.base.arrays import Matrix

CONTRAST = 0.25  # standard deviation of a pixel; 5 % of the pixels are clipped to black or white
STRETCH = 1.5  # of the fields along a row, since structures in landscapes are wider than high
PERIOD = 4  # of a field, in multiples of an image's side
WHITE = 255  # the highest grey level


def natural_images(count: int, side: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Grey levels of `count` images, an array count × side × side.

    An image is a small part of a periodic field, so that its opposite edges differ and images
    differ in brightness.
    """
    period = PERIOD * side
    amplitude = amplitudes(period)
    spectrum = rng.normal(size=(2, count, *amplitude.shape)) * amplitude
    fields = np.fft.irfft2(spectrum[0] + 1j * spectrum[1], (period, period))[:, :side, :side]
    grey = 0.5 + CONTRAST * fields / fields.std()
    return np.asarray(np.rint(np.clip(grey, 0, 1) * WHITE), np.uint8)


def amplitudes(side: int) -> Matrix:
    """Amplitude 1/f at each frequency of `irfft2`, 0 at frequency 0 (the mean of a field)."""
    rows, columns = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)
    frequency = np.hypot(rows, STRETCH * columns)
    frequency[0, 0] = np.inf
    return np.asarray(1 / frequency)
