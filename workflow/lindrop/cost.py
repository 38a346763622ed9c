"""What a fit takes: wall-clock seconds and memory."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """Seconds of a fit, and the most memory that its process had until then, all included."""

    seconds: float
    megabytes: float


NO_COST = Cost(0.0, 0.0)


def peak_megabytes() -> float:
    """The most memory that this process had until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


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
        return Cost(seconds, max(earlier.megabytes, peak_megabytes()))
