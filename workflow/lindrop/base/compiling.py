"""Compile loops by Numba when the first of them is called.

Importing Numba takes longer than many a job computes, and most jobs import loops that they never
call.
"""

from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from threading import Lock
from types import CellType, FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_compiling = Lock()


def compiled_by(**options: Any) -> Callable[[F], F]:
    """Decorator like `numba.njit` with these options, which imports Numba at the first call."""
    return lambda function: Loop(function, options)  # type: ignore[return-value]


class Loop:
    """A function that Numba compiles when it is first called, with all loops that it may call."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options
        self._made: Any = None
        self._ready: Any = None  # `_made`, once all loops that it may call are made, too

    def __call__(self, *arguments: Any) -> Any:
        if self._ready is None:
            with _compiling:  # other threads see a loop only when all that it may call is made
                self._ready = self._dispatcher()
        return self._ready(*arguments)

    def _dispatcher(self) -> Any:
        """Numba's function, made once, of a copy of this one that sees Numba's functions.

        Numba looks up the names of a function when it compiles it, and must find its own functions
        there. In the module, the names stay: what Python calls are always loops.
        """
        if self._made is None:
            from numba import njit

            own = self._function
            names = dict(own.__globals__)
            # Numba takes what was compiled before from its cache unless the function's own file
            # has changed, or a variable of an enclosing function: this one says what else it uses.
            code = own.__code__.replace(co_freevars=("used",))
            used = (CellType(self._used()),)
            copy = FunctionType(code, names, own.__name__, own.__defaults__, used)
            self._made = njit(**self._options)(update_wrapper(copy, own))
            for name, value in [*names.items()]:
                if isinstance(value, Loop):
                    names[name] = value._dispatcher()
        return self._made

    def _used(self) -> list[tuple[str, str]]:
        """The modules' constants and the files of all loops that this one may call, as text."""
        found: dict[str, str] = {}
        modules = [self._function.__globals__]
        for names in modules:  # grows
            for name, value in names.items():
                if isinstance(value, Loop):
                    other = value._function.__globals__
                    if not any(other is known for known in modules):
                        modules.append(other)
                elif isinstance(value, bool | int | float | str) and not name.startswith("__"):
                    found[f"{names['__name__']}.{name}"] = repr(value)
            file = Path(names.get("__file__", ""))
            if file.is_file():
                found[names["__name__"]] = f"{file.stat().st_mtime_ns} {file.stat().st_size}"
        return sorted(found.items())


class Instruction(Loop):
    """An instruction of the processor for which Numba has no function.

    What is decorated is called with Numba's types when a loop is compiled, and returns a signature
    and a function that generates the instruction (`numba.extending.intrinsic`).
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, {})

    def _dispatcher(self) -> Any:
        if self._made is None:
            from numba.extending import intrinsic

            self._made = intrinsic(self._function)
        return self._made
