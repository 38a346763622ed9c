"""Logarithms of modified Bessel functions, also where the functions overflow or underflow."""

import numpy as np
from scipy.special import kve

from lindrop.base.arrays import Vector


def log_bessel(order: float, z: Vector) -> tuple[Vector, Vector]:
    """log I_ν(z) and log K_ν(z) of the order ν ≥ 0 at z > 0.

    Uses recurrences in the order, each in the direction in which errors shrink: upwards for
    K_{k+1}/K_k, downwards for I_k/I_{k−1}. The Wronskian I_k K_{k+1} + I_{k+1} K_k = 1/z then
    gives I.
    """
    low = order % 1
    up = kve(1 - low, z) / kve(low, z) + 2 * low / z
    log_k = np.log(kve(low, z)) - z
    for k in low + np.arange(1, int(order) + 1):
        log_k = log_k + np.log(up)
        up = 2 * k / z + 1 / up
    down = np.zeros_like(up)
    for k in order + np.arange(_far_above(z), 0, -1):
        down = 1 / (2 * k / z + down)
    return -np.log(z) - log_k - np.log(up + down), log_k


def _far_above(z: Vector) -> int:
    """Number of orders above ν from which the downward recurrence may start with I_k/I_{k−1} = 0.

    The error of that start shrinks as exp(−k²/z).
    """
    return 30 + int(6 * np.sqrt(np.max(z, initial=0)))
