"""What a fit takes: wall-clock seconds and memory."""

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
    """Seconds of a fit, and the most memory that its process had until then, all included."""

    seconds: float
    megabytes: float


NO_COST = Cost(0.0, 0.0)


def peak_bytes(status: Path = Path("/proc/self/status")) -> float:
    """The most memory that this process had.

    What `getrusage` says, an exec hands on: of a job it is never less than Snakemake itself has. It
    counts where the system does not say more.
    """
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return 1024.0 * int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


class Stopwatch:
    """Runs from its making on, but not while something that is paused for runs."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def paused(self, work: Callable[P, T]) -> Callable[P, T]:
        """The same work, whose time does not count."""

        def uncounted(*args: P.args, **options: P.kwargs) -> T:
            began = time.perf_counter()
            try:
                return work(*args, **options)
            finally:
                self._start += time.perf_counter() - began

        return uncounted

    def cost(self, earlier: Cost = NO_COST) -> Cost:
        """With what the same work took before, in another process."""
        seconds = earlier.seconds + time.perf_counter() - self._start
        return Cost(seconds, max(earlier.megabytes, peak_bytes() / 1e6))
