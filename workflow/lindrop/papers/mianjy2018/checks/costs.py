"""Mianjy 2018, Remarks 5.1 and 5.2: running times of Algorithms 2 and 3.

Only these checks depend on measured times, which differ from run to run.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_most
from lindrop.dropout.equalise import equalizer, universal_equalizer
from lindrop.dropout.optimum import solve

SIZES = 400, 800, 1600, 3200  # d of Algorithm 3 at r = 8
LENGTHS = 20_000, 40_000, 80_000, 160_000  # d of EQZ (Algorithm 2) at r = 8
WIDTHS = 64, 128, 256  # r of EQZ at d = ROWS
ROWS = 300  # d there
SLACK = 0.3  # tolerance of a measured exponent


def checks(seed: int) -> list[Check]:
    """Checks of how measured times grow with d and r."""
    rng = np.random.default_rng(seed)
    return [*_remark_5_1(rng), _remark_5_2(rng)]


def _remark_5_1(rng: np.random.Generator) -> list[Check]:
    """Checks of the order O(d²r + dr² + r⁴) of Algorithm 3, and of that of EQZ.

    EQZ is Algorithm 2.
    """

    def solving(d: int) -> float:
        decaying = np.exp(-np.arange(16) / 8)
        m = rng.normal(size=(d, 16)) * decaying @ rng.normal(size=(16, d)) / d
        return processor_seconds(lambda: solve(m, 8, 1.0))

    def equalising(d: int, r: int) -> float:
        u = rng.normal(size=(d, r))
        return processor_seconds(lambda: equalizer(u))

    by_size = growth(SIZES, [solving(d) for d in SIZES])
    by_width = growth(WIDTHS, [equalising(ROWS, r) for r in WIDTHS])
    by_length = growth(LENGTHS, [equalising(d, 8) for d in LENGTHS])
    what = "processor time grows as a power of"
    return [
        at_most("remark_5_1", f"Algorithm 3, r = 8: {what} d", by_size, 2, SLACK),
        at_most("theorem_2_2_time", f"EQZ, d = {ROWS}: {what} r", by_width, 4, SLACK),
        at_most("theorem_2_2_time", f"EQZ, r = 8: {what} d", by_length, 1, SLACK),
    ]


def _remark_5_2(rng: np.random.Generator) -> Check:
    """Check that the equaliser for powers of two is faster than EQZ.

    One decomposition of a matrix replaces r of them.
    """
    u = rng.normal(size=(ROWS, max(WIDTHS)))

    def universal() -> Matrix:
        right = np.linalg.svd(u, full_matrices=False)[2].T
        return np.asarray(right @ universal_equalizer(u.shape[1]))

    ratio = processor_seconds(universal) / processor_seconds(lambda: equalizer(u))
    what = f"processor time over that of EQZ, d = {ROWS}, r = {max(WIDTHS)}"
    return at_most("remark_5_2_time", what, ratio, 1)


def processor_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few calls, which other load on the machine changes little."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Exponent of the power law fitted to the points."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
