"""Mianjy 2018, Section 5: Algorithm 3, what it costs, and the equaliser for powers of two."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from lindrop.arrays import Matrix
from lindrop.checks import CORRECTED, PRINTED, Check, at_most, equal
from lindrop.dropout.as_printed import solve_unpadded, universal_equalizer_printed
from lindrop.dropout.equalise import equalizer, universal_equalizer
from lindrop.dropout.multistart import minima, tied_minima
from lindrop.dropout.objective import objective, squared_norms, tied_objective
from lindrop.dropout.optimum import solve, solve_tied

STARTS = 5
CASES = ((2, 0.5), (4, 3.0), (7, 10.0))  # r and λ; in the last two ρ < r
STEPS = range(1, 8)  # k of Z_k
SIZES = 400, 800, 1600, 3200  # d at r = 8
WIDTHS = 64, 128, 256  # r of EQZ


def algorithm_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    solver, rotations, timing = np.random.default_rng(seed).spawn(3)
    return [*_algorithm_3(solver), *_remark_5_1(timing), *_remark_5_2(rotations)]


def _algorithm_3(rng: np.random.Generator) -> list[Check]:
    """E8: without zeros for the nodes beyond ρ, Algorithm 3 ends above what descents reach."""
    printed, corrected, tied = [], [], []
    for r, lam in CASES:
        m, square = rng.normal(size=(6, 5)), rng.normal(size=(5, 5))
        best = minima(m, r, lam, STARTS, rng)[0].value
        printed.append(objective(m, *solve_unpadded(m, r, lam), lam) / best - 1)
        corrected.append(objective(m, *solve(m, r, lam), lam) / best - 1)
        best = tied_minima(square, r, lam, STARTS, rng)[0].value
        tied.append(tied_objective(square, solve_tied(square, r, lam), lam) / best - 1)
    what = "f above the best of random starts, relative"
    return [
        check
        for claim in ("algorithm_3", "e8")
        for check in (
            equal(claim, f"ρ columns: {what}", max(printed), 0, 1e-9, PRINTED),
            equal(claim, f"r columns: {what}", max(np.abs(corrected)), 0, 1e-9, CORRECTED),
            equal(claim, f"tied weights: {what}", max(np.abs(tied)), 0, 1e-9, CORRECTED),
        )
    ]


def _remark_5_1(rng: np.random.Generator) -> list[Check]:
    """O(d²r + dr² + r⁴): how the processor's time grows with d, and that of EQZ with r.

    The one check whose numbers are measured, and differ from run to run.
    """

    def solving(d: int, r: int) -> float:
        decaying = np.exp(-np.arange(2 * r) / r)
        m = rng.normal(size=(d, 2 * r)) * decaying @ rng.normal(size=(2 * r, d)) / d
        return processor_seconds(lambda: solve(m, r, 1.0))

    def equalising(r: int) -> float:
        u = rng.normal(size=(300, r))
        return processor_seconds(lambda: equalizer(u))

    by_size, by_width = [solving(d, 8) for d in SIZES], [equalising(r) for r in WIDTHS]
    what = "processor time grows as a power of"
    return [
        at_most("remark_5_1", f"Algorithm 3, r = 8: {what} d", growth(SIZES, by_size), 2, 0.3),
        at_most("remark_5_1", f"EQZ, d = 300: {what} r", growth(WIDTHS, by_width), 4, 0.3),
    ]


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


def _remark_5_2(rng: np.random.Generator) -> list[Check]:
    """E9: the printed factor shrinks with every step, so that Z_k is no rotation from k = 3 on."""
    printed = [skew(universal_equalizer_printed(k)) for k in STEPS]
    corrected = [skew(universal_equalizer(2**k)) for k in STEPS]
    uneven = []
    for k in STEPS:
        u = rng.normal(size=(10, 2**k))
        right = np.linalg.svd(u)[2].T
        norms = squared_norms(u @ right @ universal_equalizer(2**k))
        uneven.append(np.ptp(norms) / norms.mean())
    first_wrong = next(k for k, error in zip(STEPS, printed, strict=True) if error > 1e-12)
    return [
        check
        for claim in ("remark_5_2", "e9")
        for check in (
            equal(claim, "largest entry of Z'Z − I", max(printed), 0, 1e-12, PRINTED),
            equal(claim, "largest entry of Z'Z − I", max(corrected), 0, 1e-12, CORRECTED),
            equal(claim, "spread of norms of UVZ, up to 128", max(uneven), 0, 1e-12, CORRECTED),
        )
    ] + [equal("e9", "first k whose printed Z_k is not orthogonal", first_wrong, 3, 0, CORRECTED)]


def skew(z: Matrix) -> float:
    """Largest entry of Z'Z − I."""
    return float(np.abs(z.T @ z - np.eye(len(z))).max())
