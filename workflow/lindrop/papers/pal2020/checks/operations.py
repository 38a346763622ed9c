"""Pal 2020, Sections 2.3 and 2.4: numbers of operations of its closed forms, by counting.

Counts do not depend on the machine as times do. Arrays of `_Number` are passed to the library's own
functions, and every sum, product and comparison is counted, those of sorting included.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import Check, at_most
from lindrop.dropout.k_support import rho_of, threshold

SIZES = 256, 1024, 4096  # numbers of singular values
STRENGTH = 0.3  # β
SLACK = 0.1  # tolerance of a ratio that should fall; the cost of sorting varies by array


class _Number:
    """A float that counts its operations in a tally shared by all numbers of an array."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: list[int]) -> None:
        self.value, self.tally = value, tally

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)


def _counted(work: Callable[..., Any], *, swapped: bool = False) -> Callable[..., Any]:
    """Method that does `work` on the values and adds one to the tally."""

    def method(self: _Number, *others: Any) -> Any:
        self.tally[0] += 1
        values = [self.value, *map(float, others)]
        found = work(*(reversed(values) if swapped else values))
        return found if isinstance(found, bool) else _Number(found, self.tally)

    return method


for _name in ("add", "sub", "mul", "truediv"):
    setattr(_Number, f"__{_name}__", _counted(getattr(operator, _name)))
    setattr(_Number, f"__r{_name}__", _counted(getattr(operator, _name), swapped=True))
for _name in ("neg", "abs", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(_Number, f"__{_name}__", _counted(getattr(operator, _name)))


def operations(work: Callable[[Vector], object], a: Vector) -> int:
    """Number of operations on numbers that `work` does with the array `a`."""
    tally = [0]
    work(np.array([_Number(value, tally) for value in a.tolist()], dtype=object))
    return tally[0]


def checks(seed: int) -> Iterator[Check]:
    """Checks of how the counts grow with the number of singular values.

    The size r of a block is a quarter of that number.
    """
    rng = np.random.default_rng(seed)
    spectra = [rng.exponential(size=d) for d in SIZES]
    d = np.array(SIZES)
    of_rho = [operations(lambda a: rho_of(a, len(a) // 4), a) for a in spectra]
    of_tau = [operations(lambda a: threshold(a, len(a) // 4, STRENGTH), a) for a in spectra]
    what = f"d = {SIZES[-1]} over d = {SIZES[0]}"
    growth = of_rho / (d * np.log2(d))
    yield at_most(
        "section_2_3_time",
        f"operations for ρ* / (d log d), {what}",
        growth[-1] / growth[0],
        1,
        SLACK,
    )
    growth = of_tau / d**2
    yield at_most(
        "section_2_4_time", f"operations for τ / d², {what}", growth[-1] / growth[0], 1, SLACK
    )
