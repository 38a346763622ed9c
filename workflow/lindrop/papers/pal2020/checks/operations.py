"""Pal 2020, Sections 2.3 and 2.4: numbers of operations of its closed forms, by counting.

Counts do not depend on the machine as times do. Arrays of `_Number` are passed to the functions,
and every sum, product and comparison is counted, those of sorting included. What is counted is
checked to find the right ρ* and the least F.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.claims.checks import EXTENSION, PRINTED, Check, Form, at_most, equal
from lindrop.dropout.k_support import falling, rho_of, threshold
from lindrop.papers.pal2020.references import Problem, conjugate_minimiser, flat_from, near_one

SIZES = 256, 1024, 4096  # numbers of singular values, for sorts
SEARCHED = 32, 64, 128  # numbers of singular values, for searches over all pairs of ρ and λ
STRENGTH = 0.3  # β
SLACK = 0.1  # tolerance of a ratio that should fall; the cost of sorting varies by array
PROBLEMS = 100


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


def search(m: Vector, r: int, beta: float) -> tuple[Any, Vector]:
    """Least F of Theorem 2.7 by its own search over all ρ ≤ r and λ, and the a that attains it.

    m falls. Sums from the start make F of a pair a matter of a fixed number of operations. F of
    A_{ρ,λ} is Eq. 42 if ρ is the ρ* of Theorem 2.3 (E12) for A_{ρ,λ}; other pairs are passed over.
    """
    sums, squares = [0.0 * m[0]], [0.0 * m[0]]
    for value in m:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    shrunk = beta / (1 + beta)
    best: tuple[Any, int, int, Any] | None = None
    for rho in range(1, r + 1):
        for lam in range(1, len(m) + 1):
            head, flat = min(lam, rho - 1), r - rho + 1
            value, shift = shrunk * squares[head] + (squares[-1] - squares[lam]), 0.0
            if lam >= rho:
                mass = sums[lam] - sums[rho - 1]
                shift = beta * mass / (r + beta * lam + (beta + 1) * (1 - rho))
                rest = mass - (lam - rho + 1) * shift
                value = value + (lam - rho + 1) * shift * shift + beta * rest * rest / flat
                if not _at_rho(m, rho, flat, shift, rest, beta) or m[lam - 1] <= shift:
                    continue
            if best is None or value < best[0]:
                best = value, rho, lam, shift
    assert best is not None  # a pair with λ = 1, ρ = 2 or the optimum for r = 1 is always there
    value, rho, lam, shift = best
    a = [m[i] / (1 + beta) if i < rho - 1 else m[i] - shift for i in range(lam)]
    return value, np.array([float(entry) for entry in a] + [0.0] * (len(m) - lam))


def _at_rho(m: Vector, rho: int, flat: int, shift: Any, rest: Any, beta: float) -> bool:
    """Whether ρ is the largest with a_{ρ−1}(r − ρ + 1) ≥ Σ_{i≥ρ} a_i for A_{ρ,λ}."""
    if rho > 1 and m[rho - 2] / (1 + beta) * flat < rest:
        return False
    last = m[rho - 1] - shift
    return bool(flat == 1 or last * (flat - 1) < rest - last)


def checks(seed: int) -> Iterator[Check]:
    """Checks of how the counts grow with the number of singular values, and of what is counted.

    The size r of a block is a quarter of that number.
    """
    rng = np.random.default_rng(seed)
    problems = [Problem.random(rng) for _ in range(PROBLEMS)]
    yield from _of_rho(rng, problems)
    yield from _of_search(rng, problems)


def _of_rho(rng: np.random.Generator, problems: list[Problem]) -> Iterator[Check]:
    """Checks of the operations for ρ*."""
    claim = "section_2_3_time"
    wrong = sum(int(rho_of(m, r)) != flat_from(m, r) for m, r, _ in problems)
    yield equal(claim, f"of {len(problems)} random A, those with another ρ* by Eq. 31", wrong, 0, 0)
    counts = _counts(SIZES, lambda a: rho_of(a, len(a) // 4), rng)
    yield _growth(claim, "operations for ρ* / (d log d)", SIZES, counts, _sorting)


def _of_search(rng: np.random.Generator, problems: list[Problem]) -> Iterator[Check]:
    """Checks of the operations of the search in Theorem 2.7, and of those for τ (E13)."""
    claim = "section_2_4_time"
    ratios = [
        search(*problem)[0] / problem.value(conjugate_minimiser(problem)) for problem in problems
    ]
    what = f"{len(problems)} random Y: F of the search over ρ and λ / least F by the conjugates"
    yield near_one(claim, what, ratios)
    counts = _counts(SEARCHED, lambda m: search(m, len(m) // 4, STRENGTH), rng)
    yield _growth(claim, "operations of this search / d²", SEARCHED, counts, np.square)
    counts = _counts(SIZES, lambda m: threshold(m, len(m) // 4, STRENGTH), rng)
    what = "operations for τ, without a search / (d log d)"
    yield _growth(claim, what, SIZES, counts, _sorting, EXTENSION)


def _sorting(d: Vector) -> Vector:
    return np.asarray(d * np.log2(d))


def _counts(
    sizes: Sequence[int], work: Callable[[Vector], object], rng: np.random.Generator
) -> Vector:
    """Operations that `work` does with falling random arrays of the given sizes."""
    return np.array([operations(work, falling(rng.exponential(size=d))) for d in sizes])


def _growth(
    claim: str,
    what: str,
    sizes: Sequence[int],
    counts: Vector,
    bound: Callable[[Vector], Vector],
    form: Form = PRINTED,
) -> Check:
    """Check that counts over a bound do not grow from the first size to the last."""
    growth = counts / bound(np.array(sizes, dtype=float))
    what = f"{what}, d = {sizes[-1]} over d = {sizes[0]}"
    return at_most(claim, what, growth[-1] / growth[0], 1, SLACK, form)
