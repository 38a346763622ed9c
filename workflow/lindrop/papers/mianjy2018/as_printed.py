"""Formulas of Mianjy 2018 as printed that errata correct; computed to show the difference."""

import numpy as np

from lindrop.base.arrays import Matrix


def universal_equalizer_printed(k: int) -> Matrix:
    """Z_k as printed in Remark 5.2: Z₁ = 1, Z_k = 2^{(1−k)/2} [[Z, Z], [−Z, Z]] (erratum E9)."""
    z = np.ones((1, 1))
    for step in range(2, k + 1):
        z = 2 ** ((1 - step) / 2) * np.block([[z, z], [-z, z]])
    return z
