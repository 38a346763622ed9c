"""Losses under masks over the losses expected of them, along one training.

Under a mask an iterate has the loss expected of it but for a factor of mean one. The mean of the
factors along a training is given within standard errors: whatever came before, each has mean one.
"""

import numpy as np
import pandas as pd

from lindrop.claims.checks import PRINTED, Check, Data, Form, equal

STANDARD_ERRORS = 5


def mean_factor(
    claim: str,
    what: str,
    factors: pd.Series,
    telling: float,
    form: Form = PRINTED,
    data: Data = "none",
) -> Check:
    """Whether their mean is one; not a number where more than `telling` may be chance."""
    tolerance = float(STANDARD_ERRORS * factors.std() / np.sqrt(len(factors)))
    mean = factors.mean() if tolerance <= telling else np.nan
    what = f"{what}; mean of {len(factors)} iterations; {STANDARD_ERRORS} standard errors"
    return equal(claim, what, mean, 1, min(tolerance, telling), form, data)
