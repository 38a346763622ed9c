"""Mianjy 2018, Remarks 5.1 and 5.2: how many multiplications Algorithms 2 and 3 take.

They are counted while the algorithms run (`operations.Tally`), so no verdict depends on a clock. An
eigendecomposition inside LAPACK cannot be counted: the textbook one takes its place.
"""

from collections.abc import Callable, Sequence

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_most
from lindrop.dropout.equalise import equalizer, universal_equalizer
from lindrop.dropout.optimum import solve
from lindrop.papers.mianjy2018.operations import Tally

SIZES = 400, 800, 1600  # d of Algorithm 3 at r = 8
LENGTHS = 10_000, 20_000, 40_000  # d of EQZ (Algorithm 2) at r = 8
WIDTHS = 16, 32, 64  # r of EQZ at d = ROWS
ROWS = 64  # d there
SLACK = 0.1  # tolerance of an exponent


def checks(seed: int) -> list[Check]:
    """Checks of how the numbers of multiplications grow with d and r."""
    rng = np.random.default_rng(seed)
    return [*_remark_5_1(rng), _remark_5_2(rng)]


def _remark_5_1(rng: np.random.Generator) -> list[Check]:
    """Checks of the order O(d²r + dr² + r⁴) of Algorithm 3, and of that of EQZ (Algorithm 2).

    Of Algorithm 3, the products with M are counted, all that takes O(d²): singular vectors are
    sought by multiplying vectors by M, and everything else takes O(d) where r is fixed.
    """

    def solving(d: int) -> int:
        decaying = np.exp(-np.arange(16) / 8)
        m = rng.normal(size=(d, 16)) * decaying @ rng.normal(size=(16, d)) / d
        tally = Tally()
        solve(tally.operator(m), 8, 1.0)
        return tally.count

    def equalising(d: int, r: int) -> int:
        return multiplications(equalizer, rng.normal(size=(d, r)))

    by_size = growth(SIZES, [solving(d) for d in SIZES])
    by_width = growth(WIDTHS, [equalising(ROWS, r) for r in WIDTHS])
    by_length = growth(LENGTHS, [equalising(d, 8) for d in LENGTHS])
    what = "multiplications grow as a power of"
    return [
        at_most("remark_5_1", f"Algorithm 3, r = 8: {what} d", by_size, 2, SLACK),
        at_most("theorem_2_2_time", f"EQZ, d = {ROWS}: {what} r", by_width, 4, SLACK),
        at_most("theorem_2_2_time", f"EQZ, r = 8: {what} d", by_length, 1, SLACK),
    ]


def _remark_5_2(rng: np.random.Generator) -> Check:
    """Check that the equaliser for powers of two takes fewer multiplications than EQZ.

    One decomposition of U'U replaces r - 1 of them: its eigenvectors are the right singular vectors
    of U.
    """
    u = rng.normal(size=(ROWS, max(WIDTHS)))

    def universal(u: Matrix) -> Matrix:
        right: Matrix = np.linalg.eigh(u.T @ u)[1]
        return right @ universal_equalizer(u.shape[1])

    ratio = multiplications(universal, u) / multiplications(equalizer, u)
    what = f"multiplications over those of EQZ, d = {ROWS}, r = {max(WIDTHS)}"
    return at_most("remark_5_2_time", what, ratio, 1)


def multiplications(work: Callable[[Matrix], Matrix], matrix: Matrix) -> int:
    """Number of multiplications that a function of a matrix does."""
    tally = Tally()
    work(tally.array(matrix))
    return tally.count


def growth(sizes: Sequence[int], counts: Sequence[float]) -> float:
    """Exponent of the power law fitted to the points."""
    return float(np.polyfit(np.log(sizes), np.log(counts), 1)[0])
