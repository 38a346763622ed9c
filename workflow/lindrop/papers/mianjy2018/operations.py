"""Arrays that count the multiplications done with them, and an eigendecomposition made of such.

The arithmetic of a run is counted while it runs, so a count does not depend on the machine's speed.
Divisions and square roots of entries count as multiplications; additions are not counted.
"""

from collections.abc import Callable
from math import copysign, hypot
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lindrop.base.arrays import Matrix, Vector

COSTLY = {np.multiply, np.divide, np.sqrt, np.square}
EPSILON = float(np.finfo(np.float64).eps)


class Tally:
    """The number of multiplications so far."""

    def __init__(self) -> None:
        self.count = 0

    def array(self, values: Matrix) -> "Counted":
        """A copy of an array whose multiplications are added to this tally."""
        counted = np.array(values).view(Counted)
        counted.tally = self
        return counted

    def operator(self, matrix: Matrix) -> LinearOperator:
        """A linear operator whose products with vectors are added to this tally."""
        m = self.array(matrix)
        forward, backward = (lambda x, m=part: np.asarray(m @ x) for part in (m, m.T))
        return LinearOperator(m.shape, forward, rmatvec=backward, dtype=m.dtype)


class Counted(np.ndarray[Any, Any]):
    """Array that adds the multiplications in which it takes part to its tally.

    What is computed from such an array is another one. A NumPy function whose multiplications
    cannot be seen raises TypeError instead of being left out of the count.
    """

    tally: Tally

    def __array_finalize__(self, source: Any) -> None:
        """Give a view or a copy the tally of the array that it was made from."""
        self.tally = getattr(source, "tally", Tally())

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with plain arrays and count: n for a product of n entries, rows × n for `@`."""
        if "out" in options:
            options["out"] = tuple(_plain(each) for each in options["out"])
        plain = [_plain(each) for each in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            self.tally.count += np.size(result) * plain[0].shape[-1]
        elif ufunc in COSTLY:
            self.tally.count += np.size(result)
        return _counted(result, self.tally)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Any, options: Any
    ) -> Any:
        """Compute with a function made of counted operations; any other is refused."""
        if function not in FUNCTIONS:
            raise TypeError(f"multiplications inside {function.__name__} cannot be counted")
        return FUNCTIONS[function](*arguments, **options)


def _plain(values: Any) -> Any:
    """Plain array of a counted one; anything else as it is."""
    return values.view(np.ndarray) if isinstance(values, Counted) else values


def _counted(values: Any, tally: Tally) -> Any:
    """Counted array of a plain one; a single number as it is."""
    if not isinstance(values, np.ndarray):
        return values
    counted = values.view(Counted)
    counted.tally = tally
    return counted


def outer(a: Vector, b: Vector) -> Matrix:
    """The matrix of all products a_i b_j."""
    product: Matrix = a[:, None] * b
    return product


def norm(a: Vector) -> float:
    """Euclidean length."""
    return float(np.sqrt((a * a).sum()))


def eigh(matrix: Counted) -> tuple[Vector, Matrix]:
    """Eigenvalues of a symmetric matrix, rising, and its eigenvectors as columns.

    The textbook algorithm: reflections make the matrix tridiagonal, then the implicit QL algorithm
    with shifts makes it diagonal (Golub and Van Loan, Matrix Computations, Section 8.3).
    """
    a = matrix.copy()
    rows = a.tally.array(np.eye(len(a)))
    for k in range(len(a) - 2):
        below = a[k + 1 :, k]
        if not (length := norm(below)):
            continue
        normal = below / length
        normal[0] += copysign(1.0, normal[0])
        normal = normal / norm(normal)
        twice = 2 * normal
        a[k + 1 :, k:] -= outer(twice, normal @ a[k + 1 :, k:])
        a[k:, k + 1 :] -= outer(a[k:, k + 1 :] @ normal, twice)
        rows[k + 1 :] -= outer(twice, normal @ rows[k + 1 :])
    plain = _plain(a)
    values = _diagonalise(plain.diagonal().tolist(), plain.diagonal(-1).tolist(), rows)
    order = np.argsort(values)
    return np.array(values)[order], rows[order].T


def _diagonalise(d: list[float], e: list[float], rows: Matrix) -> list[float]:
    """Eigenvalues of the tridiagonal matrix with diagonal d and e beside it; turn `rows` by QL.

    Arithmetic with single numbers is not counted: each rotation has a few such operations and four
    multiplications for every column of `rows`.
    """
    n = len(d)
    e = [*e, 0.0]
    for low in range(n):
        while (high := _end_of_block(d, e, low)) > low:
            g = (d[low + 1] - d[low]) / (2 * e[low])
            g = d[high] - d[low] + e[low] / (g + copysign(hypot(g, 1.0), g))
            sine, cosine, shift = 1.0, 1.0, 0.0
            for i in range(high - 1, low - 1, -1):
                f, b = sine * e[i], cosine * e[i]
                e[i + 1] = length = hypot(f, g)
                if length == 0.0:
                    d[i + 1] -= shift
                    e[high] = 0.0
                    break
                sine, cosine = f / length, g / length
                g = d[i + 1] - shift
                length = (d[i] - g) * sine + 2 * cosine * b
                shift = sine * length
                d[i + 1] = g + shift
                g = cosine * length - b
                rows[i : i + 2] = np.array([[cosine, -sine], [sine, cosine]]) @ rows[i : i + 2]
            else:
                d[low] -= shift
                e[low] = g
                e[high] = 0.0
    return d


def _end_of_block(d: list[float], e: list[float], low: int) -> int:
    """The first index from `low` on after which an entry beside the diagonal is negligible."""
    high = low
    while high < len(d) - 1 and abs(e[high]) > EPSILON * (abs(d[high]) + abs(d[high + 1])):
        high += 1
    return high


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.eigh: eigh,
    np.linalg.norm: norm,
    np.outer: outer,
}
