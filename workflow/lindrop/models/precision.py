"""Choice of the precision of C = (G + Λ̃)⁻¹: float32, or float64 where its errors would show."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from lindrop.base.arrays import Vector
from lindrop.base.errors import Unsolvable, UserError
from lindrop.base.memory import available_bytes, retry_gets_more
from lindrop.base.reporting import logger
from lindrop.linalg.blas import NotPositiveDefinite
from lindrop.linalg.packed import NOISE, InverseTriangle, Inversion, PackedGram
from lindrop.models.base import Training
from lindrop.models.memory import inverse_bytes, matrix_bytes, triangle_bytes

C = TypeVar("C", bound=Inversion)
Read = Callable[[npt.DTypeLike], C]

SEEN = 1e-5  # error of B from which the fifth digit of ranking metrics may change


def inverted(data: Training, penalty: Vector, solver_bytes: float | None = None) -> PackedGram:
    """G and C = (G + dMat(penalty))⁻¹ in one buffer, whose precision later computations share.

    `solver_bytes` is what the solver needs in float32 (None: the inverse alone).
    """
    if solver_bytes is None:
        solver_bytes = matrix_bytes(data.items) + inverse_bytes(data.items)
    return _precise(data, data.packed, penalty, solver_bytes)


def inverse_alone(data: Training, penalty: Vector) -> InverseTriangle:
    """C = (G + dMat(penalty))⁻¹ as a triangle."""
    solver_bytes = triangle_bytes(data.items) + inverse_bytes(data.items)
    return _precise(data, data.to_invert, penalty, solver_bytes)


def _precise(data: Training, read: Read[C], penalty: Vector, solver_bytes: float) -> C:
    """What `read` returns for float32 or float64, inverted.

    float32 is tried first, if X'X is exact in it: the error of C is estimated for the G that is
    there. Where that error exceeds `SEEN`, G is read once more in float64, if there is memory for
    twice `solver_bytes`. If there is not, float32 errors up to `NOISE` are accepted with a warning;
    a cluster job whose next attempt gets more memory raises an error instead.
    """
    if data.dtype == np.float64 or not data.whole:
        return _inverted(read, np.float64, penalty, NOISE)
    needed = 2 * solver_bytes
    if needed > available_bytes():
        return _without_room(read, penalty, needed)
    try:
        return _inverted(read, np.float32, penalty, SEEN)
    except NotPositiveDefinite as error:
        logger.info("float32 is not enough (%s): once more, in float64", error.reason)
    # outside of the except block, where the exception keeps the first buffer alive
    return _inverted(read, np.float64, penalty, NOISE)


def _without_room(read: Read[C], penalty: Vector, needed: float) -> C:
    more_later = retry_gets_more(needed)
    try:
        return _inverted(read, np.float32, penalty, SEEN if more_later else NOISE)
    except NotPositiveDefinite as error:
        gigabytes = f"float64 needs {needed / 1e9:,.1f} GB"
        if more_later:
            raise UserError(
                f"float32 is not enough ({error.reason}), and {gigabytes}, more than this job has "
                "left: its next attempt gets more; --set-resources gives more to the first"
            ) from error
        raise Unsolvable(f"{error}; or more memory: {gigabytes}") from error


def _inverted(read: Read[C], dtype: npt.DTypeLike, penalty: Vector, allowed: float) -> C:
    gram = read(dtype)
    gram.invert(penalty, allowed)
    if gram.error > SEEN:
        logger.warning(
            "C errs by %.0e in %s: the last digits of ranking metrics are not certain",
            gram.error,
            gram.dtype,
        )
    return gram
