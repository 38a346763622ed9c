"""Check matrices of interactions that come from outside, before compiled loops read them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.linalg.kernels import canonical

SIZES = 1e-12, 1e12  # of an entry: sums of products of two are then normal numbers of float32
BLOCK = 1 << 18  # entries looked at together


def interactions(x: Any, what: str) -> sp.csr_array:
    """X as a CSR array of real, finite numbers, sorted in rows, without duplicates and zeros.

    Any sparse format and dense arrays are converted; an X that is as it must be is not copied.
    UserError if X cannot be such a matrix; `what` names it in the message. Compiled loops take the
    three arrays of X as they are: with those of a CSC matrix they would leave their memory.
    """
    if np.ma.is_masked(x):  # NumPy would take what the mask hides
        raise UserError(f"{what} hides entries by a mask; fill them, with 0 for no interaction")
    if not sp.issparse(x):
        x = np.asarray(x)
    if x.ndim != 2 or x.dtype.kind not in "biuf" or x.dtype.itemsize > 8:
        raise UserError(
            f"{what} must be a matrix of real numbers, users × items, not {x.dtype} of "
            f"{x.ndim} dimensions"
        )
    x = sp.csr_array(x.astype(np.float32) if x.dtype == np.float16 else x)  # SciPy knows no float16
    # anew from its arrays, as SciPy does not notice when a matrix that it called sorted is changed
    x = sp.csr_array((_wide(x.data), x.indices, x.indptr), shape=x.shape)
    try:
        x.check_format(full_check=True)
    except ValueError as error:
        raise UserError(f"{what} is not a valid CSR matrix: {error}") from error
    parts = range(0, x.nnz, BLOCK)  # an answer for all entries at once would be as long as X
    if not all(np.isfinite(x.data[start : start + BLOCK]).all() for start in parts):
        raise UserError(f"{what} holds NaN or infinite entries; remove them")
    x = canonical(x)
    if not x.data.all():
        x = x.copy()
        x.eliminate_zeros()
    _refuse_sizes(x.data, what)
    return x


def _refuse_sizes(entries: Any, what: str) -> None:
    """Raise UserError for an entry outside SIZES, by which float32 would overflow or underflow."""
    for start in range(0, len(entries), BLOCK):  # the sizes of all entries would be as large as X
        part = entries[start : start + BLOCK]
        size = np.abs(part.astype(np.float64, copy=False))
        if not SIZES[0] <= size.min() <= size.max() <= SIZES[1]:
            odd = part[np.argmax((size < SIZES[0]) | (size > SIZES[1]))]
            raise UserError(
                f"{what} holds the entry {odd:g}: entries must be from {SIZES[0]:g} to "
                f"{SIZES[1]:g} in size; divide all of them by one number"
            )


def _wide(data: Any) -> Any:
    """Entries as they are, or small integers as float32, in which sums of duplicates are exact."""
    small = data.dtype.kind in "biu" and data.dtype.itemsize < 4
    return data.astype(np.float32) if small else data
