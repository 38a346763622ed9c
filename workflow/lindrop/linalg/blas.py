"""Call BLAS and LAPACK in place on blocks of a larger matrix.

SciPy's Python wrappers copy every matrix that is not contiguous. The routines themselves accept a
leading dimension; they are called here through the addresses that SciPy exports for Cython.

NumPy brings a BLAS of its own. Each of the two keeps its threads spinning for a while after a call,
so a loop that alternates between them is slow: within such a loop, use the products from here.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg.cython_blas as cython_blas
import scipy.linalg.cython_lapack as cython_lapack

from lindrop.base.arrays import Matrix
from lindrop.base.errors import Unsolvable

_PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_REAL = {"s": ctypes.c_float, "d": ctypes.c_double}


@cache
def _routine(module: Any, name: str) -> Callable[..., None]:
    """The BLAS or LAPACK routine of this name (such as `sgemm`) as a ctypes function."""
    capsule = module.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(pointer_of(capsule, name_of(capsule)))


def _integer(value: int) -> Any:
    """A reference to a C integer, as Fortran routines take their arguments."""
    return ctypes.byref(ctypes.c_int(value))


def _start_and_stride(matrix: Matrix) -> tuple[ctypes.c_void_p, Any]:
    """Address and leading dimension of a block of a C-ordered matrix, as arguments of a routine."""
    contiguous = matrix.strides[1] == matrix.itemsize or matrix.shape[1] <= 1
    if not contiguous or matrix.strides[0] % matrix.itemsize:
        raise ValueError("rows must be contiguous")
    stride = max(matrix.strides[0] // matrix.itemsize, matrix.shape[1], 1)
    return ctypes.c_void_p(matrix.ctypes.data), _integer(stride)


def product_into(
    c: Matrix,
    a: Matrix,
    b: Matrix,
    alpha: float = 1.0,
    beta: float = 0.0,
    transposed: bool = True,
    columns: bool = False,
) -> None:
    """Compute C = α A B' + β C, or C = α A B + β C if not `transposed`, in place.

    With `columns`, A' takes the place of A. Rows of all three matrices must be contiguous; the
    matrices may be blocks of larger ones.
    """
    if 0 in c.shape:
        return
    rows, inner = a.shape[::-1] if columns else a.shape
    shape = (rows, len(b)) if transposed else (rows, b.shape[1])
    if shape != c.shape or inner != b.shape[transposed] or not a.dtype == b.dtype == c.dtype:
        raise ValueError(f"{a.shape} by {b.shape} into {c.shape}: {a.dtype}, {b.dtype}, {c.dtype}")
    prefix = _PREFIX[c.dtype]
    real = _REAL[prefix]
    # Fortran sees each C-ordered block transposed, so it computes C' = α B A' + β C'
    _routine(cython_blas, f"{prefix}gemm")(
        ctypes.c_char_p(b"T" if transposed else b"N"),
        ctypes.c_char_p(b"T" if columns else b"N"),
        _integer(c.shape[1]),
        _integer(c.shape[0]),
        _integer(inner),
        ctypes.byref(real(alpha)),
        *_start_and_stride(b),
        *_start_and_stride(a),
        ctypes.byref(real(beta)),
        *_start_and_stride(c),
    )


def product(a: Matrix, b: Matrix, transposed: bool = True) -> Matrix:
    """The product A B', or A B if not `transposed`, as a new matrix."""
    c = np.empty((len(a), len(b) if transposed else b.shape[1]), a.dtype)
    product_into(c, a, b, transposed=transposed)
    return c


def invert_small(a: Matrix) -> Matrix:
    """Inverse of a symmetric positive definite block, from its lower triangle (potrf, potri)."""
    prefix, n = _PREFIX[a.dtype], a.shape[0]
    inverse = np.array(a, order="C")
    for name in ("potrf", "potri"):
        info = ctypes.c_int(0)
        _routine(cython_lapack, prefix + name)(
            ctypes.c_char_p(b"U"),  # Fortran's upper triangle is the lower one in C order
            _integer(n),
            *_start_and_stride(inverse),
            ctypes.byref(info),
        )
        if info.value:
            raise NotPositiveDefinite(inverse.dtype, "a pivot is not positive")
    lower: Matrix = np.tril(inverse)
    lower += np.tril(lower, -1).T
    return lower


class NotPositiveDefinite(Unsolvable):
    """Raised when a matrix to be inverted is not positive definite in its precision."""

    def __init__(self, precision: np.dtype[Any], reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"G + Λ̃ is not positive definite in {precision} ({reason}): use a larger λ or dropout p"
        )
