"""Search of a grid: from coarse to fine, with rough fits first, and beyond an edge if it is best.

The validation metric changes smoothly with p and λ, so that most points of a grid decide nothing.
At the rank of the table, every second value of each axis is tried; then the neighbours of the two
best of these points, until none up to two values away is better. The other ranks start from that
point, as their best point is near. Where the best value is at the end of its list, the list is
continued in its last ratio, a few times at most. Where the values beside the best one are far away
and so much worse that a better one may lie between, the middle is tried: on MovieLens 1M, where
weight decay is best at λ = 500, a list that goes from 300 to 1,000 costs it 4 per cent.
Fits of iterative models stop early; those points of a rank whose metric is close to the best are
fitted again to the configured tolerance, and these decide.

The order of the fits follows from the data alone, so that the choice depends neither on the order
of jobs nor on how many there are.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from lindrop.base.reporting import Progress, logger
from lindrop.models.base import Training, Validation
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.entry import Entry, Ranks
from lindrop.models.options import Option
from lindrop.models.tuning import ROUGH, Trials
from lindrop.ranking.grids import Point, axes
from lindrop.ranking.metrics import CRITERION

WIDER = 3  # most values that are added at each end of an axis
LOOSER, FEWER = 10, 5  # a rough fit: times the tolerance, and one in so many of the iterations
FEWEST = 20  # iterations of a rough fit
CLOSE = 2e-3  # share of the best metric by which a point may be lower and is fitted again
FLAT = 1e-4  # share by which the end of an axis must beat its next value, or it is not continued
FINE = 2.0  # ratio of two values up to which nothing is tried between them
# Share by which the worse value beside the best one is lower where more may be gained between them.
# The top of a parabola through three points is above the middle one, the highest, by at most an
# eighth of the larger difference.
STEEP = 8 * CLOSE
RATIOS = 1.5, 10.0  # smallest and largest ratio in which an axis is continued

Key = tuple[float, ...]


def search(
    data: Training,
    name: str,
    rank: int,
    ranks: Sequence[int],
    options: Mapping[str, Any],
    fold_in: sp.csr_array,
    held_out: sp.csr_array,
    criterion: str = CRITERION,
    models: Mapping[str, Entry] = CATALOGUE,
) -> pd.DataFrame:
    """Table of validation metrics, one row for every fit of a search; `rank` is searched first.

    A column `rough` says whether a fit stopped early. `choose` takes the best point from the table.
    """
    trials = Trials(data, name, ranks, options, Validation(fold_in, held_out), models)
    return _Search(trials, rank, ranks, options, criterion).table()


class _Search:
    def __init__(
        self,
        trials: Trials,
        rank: int,
        ranks: Sequence[int],
        options: Mapping[str, Any],
        criterion: str,
    ):
        self.trials, self.options, self.criterion = trials, options, criterion
        self.ranks, self.rank = list(ranks), rank if rank in ranks else max(ranks)
        self.axes = {axis: sorted(set(values)) for axis, values in axes(options).items()}
        self.searched = {axis for axis, values in self.axes.items() if len(values) > 1}
        self.added = dict.fromkeys(itertools.product(self.searched, (0, -1)), 0)
        self.rough = rough_options(options)
        self.rows: dict[tuple[int, Key], dict[str, Any]] = {}
        self.progress = Progress(trials.name, None, unit="fits")

    def table(self) -> pd.DataFrame:
        """Search every rank and return all rows, in the order of the fits."""
        first = list(itertools.product(*map(coarse, self.axes.values())))
        for values in first:
            self._fit(values, [self.rank], self.rough)
        if self._best(self.rank) is None:
            self._fit_all()
        self._climb_from_second(first)
        self._climb([self.rank])
        self._halve(self.rank)
        start, others = self._best(self.rank), [rank for rank in self.ranks if rank != self.rank]
        if start is not None and (missing := [r for r in others if (r, start) not in self.rows]):
            self._fit(start, missing, self.rough)
        self._climb(others)
        for rank in others:
            self._halve(rank)
        rows = list(self.rows.values())
        if self.rough != self.options:
            rows += self._fitted_again()
        logger.info("%s", self.progress)
        return pd.DataFrame(rows)

    def _fit(
        self, key: Key, ranks: Sequence[int], options: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        if self.trials.entry.ranks is not Ranks.EACH:  # one fit has the models of all ranks
            ranks = self.ranks
        point: Point = dict(zip(self.axes, key, strict=True))
        rows = []
        for row in self.trials.of(point, ranks, options):
            rows.append(row | {ROUGH: options is not self.options})
            if options is self.rough:
                self.rows[row["rank"], key] = rows[-1]
            self.progress.advance(1)
        return rows

    def _fit_all(self) -> None:
        """Fit the whole grid at every rank: no first point could be fitted, to climb from it."""
        for key in itertools.product(*self.axes.values()):
            if ranks := [rank for rank in self.ranks if (rank, key) not in self.rows]:
                self._fit(key, ranks, self.rough)

    def _climb_from_second(self, first: Sequence[Key]) -> None:
        """Climb from the second best of the first points, too: the metric may have two maxima.

        WMF's has, in α, on few users.
        """
        values = {key: self.rows[self.rank, key][self.criterion] for key in first}
        usable = [key for key in first if values[key] == values[key]]
        if len(usable) < 2:
            return
        here, climbing = sorted(usable, key=values.__getitem__)[-2], True
        while climbing:
            beside = [key for key in self._neighbours(self.rank, here) if key not in values]
            for key in beside:
                if (self.rank, key) not in self.rows:
                    self._fit(key, [self.rank], self.rough)
                values[key] = self.rows[self.rank, key][self.criterion]
            best = max(
                (key for key in [here, *beside] if values[key] == values[key]),
                key=values.__getitem__,
            )
            here, climbing = best, best != here

    def _climb(self, ranks: Sequence[int]) -> None:
        """Fit the neighbours of the best point of each rank until none of them is better."""
        while True:
            wanted: dict[Key, list[int]] = {}
            for rank in ranks:
                best = self._best(rank)
                for key in self._neighbours(rank, best) if best is not None else []:
                    if (rank, key) not in self.rows:
                        wanted.setdefault(key, []).append(rank)
            if not wanted:
                return
            for key, at in sorted(wanted.items()):
                self._fit(key, at, self.rough)

    def _halve(self, rank: int) -> None:
        """Try the middle between the best point of a rank and its neighbours while that may pay."""
        while (key := next(self._between(rank), None)) is not None:
            self._fit(key, [rank], self.rough)

    def _between(self, rank: int) -> Iterator[Key]:
        """Points still to be fitted between the best one and those beside it, the better one first.

        Both sides of an axis are given only where the worse one is much lower than the best.
        """
        best = self._best(rank)
        if best is None:
            return
        for place, axis in enumerate(self.axes):
            found = self._line(rank, best, place)
            values = sorted(found)
            here = values.index(best[place])
            beside = [values[i] for i in (here - 1, here + 1) if 0 <= i < len(values)]
            least = min((found[value] for value in beside), default=np.inf)
            if least > (1 - STEEP) * found[best[place]]:
                continue
            for value in sorted(beside, key=lambda value: -found[value]):
                middle = between(best[place], value, self.trials.entry.options.get(axis))
                if middle is None:
                    continue
                key = (*best[:place], middle, *best[place + 1 :])
                if (rank, key) not in self.rows:
                    yield key

    def _line(self, rank: int, key: Key, place: int) -> dict[float, float]:
        """The criterion of the usable points that differ from one on an axis, by their value."""
        return {
            other[place]: row[self.criterion]
            for (at, other), row in self.rows.items()
            if at == rank
            and (*other[:place], key[place], *other[place + 1 :]) == key
            and row[self.criterion] == row[self.criterion]
        }

    def _best(self, rank: int) -> Key | None:
        """The best point of a rank so far, the first one of several; None if none has a model."""
        found = {
            key: row[self.criterion]
            for (at, key), row in self.rows.items()
            if at == rank and row[self.criterion] == row[self.criterion]
        }
        return max(found, key=found.__getitem__) if found else None

    def _neighbours(self, rank: int, key: Key) -> list[Key]:
        """Points one value away on one axis, or two at the first rank; an axis may be continued.

        Two, since neighbouring values of a grid may differ by less than chance.
        """
        found = []
        for place, (axis, value) in enumerate(zip(self.axes, key, strict=True)):
            if axis not in self.searched:
                continue
            for end in (0, -1):
                if value == self.axes[axis][end] and self._rises(rank, key, place, end):
                    self._widen(axis, end)
            values = sorted({*self.axes[axis], value})
            here = values.index(value)
            reach = 2 if rank == self.rank else 1
            beside = values[max(here - reach, 0) : here] + values[here + 1 : here + 1 + reach]
            found += [(*key[:place], there, *key[place + 1 :]) for there in beside]
        return found

    def _rises(self, rank: int, key: Key, place: int, end: int) -> bool:
        """Whether the point at the end of an axis is better than the one before it by `FLAT`.

        The penalty of dropout alone may be enough, and then a smaller λ changes nothing.
        """
        inner = list(self.axes.values())[place][1 if end == 0 else -2]
        row = self.rows.get((rank, (*key[:place], inner, *key[place + 1 :])))
        if row is None:
            return False  # it is a neighbour, and will be fitted first
        best, other = self.rows[rank, key][self.criterion], row[self.criterion]
        return not other >= (1 - FLAT) * best

    def _widen(self, axis: str, end: int) -> None:
        """Add a value beyond the first (`end` 0) or the last (-1) one, if there may be more."""
        if self.added[axis, end] >= WIDER:
            return
        value = beyond(self.axes[axis], end, self.trials.entry.options.get(axis))
        if value is not None:
            self.added[axis, end] += 1
            self.axes[axis] = sorted([*self.axes[axis], value])

    def _fitted_again(self) -> list[dict[str, Any]]:
        """Rows of the points close to the best of their rank, fitted to the full tolerance.

        A rank with a single such point needs no second fit: its choice is made.
        """
        wanted: dict[Key, list[int]] = {}
        for rank in self.ranks:
            best = self._best(rank)
            if best is None:
                continue
            least = (1 - CLOSE) * self.rows[rank, best][self.criterion]
            close = [
                key
                for (at, key), row in self.rows.items()
                if at == rank and row[self.criterion] >= least
            ]
            for key in close if len(close) > 1 else []:
                wanted.setdefault(key, []).append(rank)
        rows = []
        for key, at in sorted(wanted.items()):
            rows += [row for row in self._fit(key, at, self.options) if row["rank"] in at]
        return rows


def coarse(values: Sequence[float]) -> list[float]:
    """Every second of the sorted values, beginning with the second one; all of a single one."""
    return list(values[1::2]) if len(values) > 1 else list(values)


def rough_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options of a fit that stops early; the options themselves if there is nothing to loosen."""
    if "tolerance" not in options:
        return options
    rough = {**options, "tolerance": LOOSER * options["tolerance"]}
    if "iterations" in options:
        few = max(FEWEST, options["iterations"] // FEWER)
        rough["iterations"] = min(options["iterations"], few)
    return rough


def between(one: float, other: float, option: Option | None = None) -> float | None:
    """The value halfway between two in ratio, for a probability in that of p/(1-p).

    None where they are in a ratio of at most `FINE`, or where there is no such value: none is
    halfway between a number and 0.
    """
    below = option.below if option else None
    low, high = sorted(_odds(value, below) for value in (one, other))
    if low <= 0 or high <= FINE * low:
        return None
    value = _rounded(math.sqrt(low * high), option)
    return value if min(one, other) < value < max(one, other) else None


def beyond(values: Sequence[float], end: int, option: Option | None = None) -> float | None:
    """The next value below the first (`end` 0) or above the last (-1) of sorted values.

    It continues the ratio of the last two, for a probability that of p/(1-p), the weight of the
    penalty. None where no such value is allowed: 0 has none below it.
    """
    below = option.below if option else None
    last, inner = (_odds(values[i], below) for i in (end, 1 if end == 0 else -2))
    if last <= 0:
        return None
    ratio = last / inner if end and inner > 0 else inner / last if not end else RATIOS[1]
    ratio = min(max(ratio, RATIOS[0]), RATIOS[1])
    value = _rounded(last * ratio if end else last / ratio, option)
    if (option and option.problem(value)) or value in values or value <= 0:
        return None
    return value if (value > values[-1] if end else value < values[0]) else None


def _odds(value: float, below: float | None) -> float:
    """p/(1-p) of a probability; a value without an upper bound itself."""
    return value / (below - value) if below else value


def _rounded(odds: float, option: Option | None) -> float:
    """The value with these odds, to two digits, or to a whole number where it has to be one."""
    below = option.below if option else None
    value = float(f"{below * odds / (1 + odds) if below else odds:.2g}")
    return round(value) if option and option.kind == "integer" else value
