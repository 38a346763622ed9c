"""Mianjy 2018, Remarks 5.1 and 5.2: what Algorithms 2 and 3 cost.

The only checks whose numbers are measured times, which differ from run to run.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_most
from lindrop.dropout.equalise import equalizer, universal_equalizer
from lindrop.dropout.optimum import solve

SIZES = 400, 800, 1600, 3200  # d at r = 8
LENGTHS = 20_000, 40_000, 80_000, 160_000  # d of EQZ at r = 8
WIDTHS = 64, 128, 256  # r of EQZ
ROWS = 300  # d there
SLACK = 0.3  # of a measured exponent


def checks(seed: int) -> list[Check]:
    """Every check of this file."""
    rng = np.random.default_rng(seed)
    return [*_remark_5_1(rng), _remark_5_2(rng)]


def _remark_5_1(rng: np.random.Generator) -> list[Check]:
    """O(d²r + dr² + r⁴): how the time grows with d, and that of EQZ with d and r."""

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
    """Where r is a power of two, one decomposition replaces r."""
    u = rng.normal(size=(ROWS, max(WIDTHS)))

    def universal() -> Matrix:
        right = np.linalg.svd(u, full_matrices=False)[2].T
        return np.asarray(right @ universal_equalizer(u.shape[1]))

    ratio = processor_seconds(universal) / processor_seconds(lambda: equalizer(u))
    what = f"processor time over that of EQZ, d = {ROWS}, r = {max(WIDTHS)}"
    return at_most("remark_5_2_time", what, ratio, 1)


def processor_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least of a few, of the processor: what else runs on the machine counts little."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Exponent of the power law through the points."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
