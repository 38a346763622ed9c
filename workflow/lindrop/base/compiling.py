"""Compile loops by Numba when the first of them is called.

Importing Numba takes longer than many a job computes, and most jobs import loops that they never
call.
"""

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_compiling = RLock()


def compiled_by(**options: Any) -> Callable[[F], F]:
    """Decorator like `numba.njit` with these options, which imports Numba at the first call."""
    return lambda function: Loop(function, options)  # type: ignore[return-value]


class Loop:
    """A function that Numba compiles when it is first called, with all loops that it may call."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options
        self._made: Any = None
        self._ready: Any = None  # `_made`, once the loops that it may call are compilable, too

    def __call__(self, *arguments: Any) -> Any:
        return (self._ready or self.dispatcher())(*arguments)

    def dispatcher(self) -> Any:
        """Numba's function, made once; in its module it and its like replace what calls them.

        Numba looks up the names of a function when it compiles it, and must find its own functions.
        """
        with _compiling:
            if self._made is None:
                from numba import njit

                self._made = njit(**self._options)(self._function)
                names = self._function.__globals__
                for name, value in [*names.items()]:
                    if isinstance(value, Loop):
                        names[name] = value.dispatcher()
                self._ready = self._made
            return self._made
