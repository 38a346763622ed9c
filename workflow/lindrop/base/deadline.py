"""End work that has begun when its time is over."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType

from lindrop.base.errors import UserError

SOONEST = 0.05  # seconds until a time that is over ends the block: it must have begun
AGAIN = 5.0  # seconds after which a timer rings again: Python drops what a destructor raises


class OutOfTime(UserError):
    """Raised in work whose time is over."""


@contextmanager
def until(end: float, message: str) -> Iterator[None]:
    """Raise OutOfTime within the block at the time `end`, in seconds since 1970.

    The error comes between two steps of Python: a call of BLAS or of a compiled loop that has begun
    is finished first. Only the main thread has a clock; in another one, nothing ends the block.
    """
    if end == inf or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(message)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(end - time.time(), SOONEST), AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
