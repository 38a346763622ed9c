"""Cost of a fit: wall-clock seconds and peak memory."""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """Wall-clock seconds of a fit, and the peak memory in MB of its whole process until then."""

    seconds: float
    megabytes: float


NO_COST = Cost(0.0, 0.0)


def peak_bytes(status: Path = Path("/proc/self/status")) -> float:
    """Peak resident memory of this process in bytes, from VmHWM of /proc/self/status.

    `getrusage` is only the fallback for systems without that file: its value survives an exec, so
    for a job it is never below the memory of the Snakemake process that started it.
    """
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return 1024.0 * int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


class Stopwatch:
    """Wall-clock time since construction, minus the time spent in functions wrapped by `paused`."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def paused(self, work: Callable[P, T]) -> Callable[P, T]:
        """Wrap a function so that the time of its calls is not counted."""

        def uncounted(*args: P.args, **options: P.kwargs) -> T:
            began = time.perf_counter()
            try:
                return work(*args, **options)
            finally:
                self._start += time.perf_counter() - began

        return uncounted

    def cost(self, earlier: Cost = NO_COST) -> Cost:
        """Cost up to now; `earlier` is the cost of the same work in a previous process."""
        seconds = earlier.seconds + time.perf_counter() - self._start
        return Cost(seconds, max(earlier.megabytes, peak_bytes() / 1e6))
