"""Estimate the time left of a run from earlier runs and from its own finished jobs."""

from collections import defaultdict
from statistics import fmean

from snakemake_logger_plugin_lindrop.run import COLLECTS, Job, Run
from snakemake_logger_plugin_lindrop.words import last_words, seconds_left

ENOUGH = 0.25  # share of the jobs whose time must be known before an estimate is shown
DRAG = 10.0  # weight, in seconds of finished jobs, of the prior speed of the machine


def time_left(run: Run, now: float) -> float | None:
    """Seconds until the run ends, or None while too little is known."""
    known = Figures(run)
    waiting = {rule: n for rule, n in run.waiting.items() if n and rule != COLLECTS}
    running = run.running.values()
    covered = run.done + sum(n for rule, n in waiting.items() if known.of_rule(rule))
    covered += sum(known.of(job) is not None for job in running)
    if known.usual is None or covered < ENOUGH * run.total:
        return None

    rest = [_rest(job, known.of(job) or known.usual, now) for job in running]
    work = sum(rest) + sum(n * (known.of_rule(rule) or known.usual) for rule, n in waiting.items())
    # None if all running jobs are late by an unknown time
    return max(work / run.parallelism(now), *rest, 0.0) if work else None


def _rest(job: Job, expected: float, now: float) -> float:
    """Seconds left of a job: the expected rest or, if longer, what its own log states."""
    said = seconds_left(last_words(job.log, since=job.start))
    return max(expected - (now - job.start), said, 0.0)


class Figures:
    """Estimated seconds of jobs: those of earlier runs, scaled to the speed of this run."""

    def __init__(self, run: Run):
        self._earlier = run.earlier
        self._begun = {job.benchmark for job in run.started.values()}
        self._took: dict[str, list[float]] = defaultdict(list)
        self._pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        again = []  # jobs that also ran before, from which the machine's speed is estimated
        for job, seconds in run.finished:
            self._took[job.rule].append(seconds)
            if before := self._before(job):
                self._pairs[job.rule].append((seconds, before))
                if job.benchmark in self._earlier[job.rule]:
                    again.append((seconds, before))
        self._machine = _ratio(again, prior=1.0, weight=DRAG)
        rules = {*run.waiting, *self._took} - {COLLECTS}
        figures = [figure for rule in rules if (figure := self.of_rule(rule))]
        self.usual = fmean(figures) if figures else None  # estimate for a job of a new rule

    def of(self, job: Job) -> float | None:
        """Estimated total seconds of a running job, None if nothing is known of its rule."""
        before = self._before(job)
        return before * self._pace(job.rule) if before else self.of_rule(job.rule)

    def of_rule(self, rule: str) -> float | None:
        """Estimated seconds of a job of a rule that has not started, None if nothing is known."""
        if before := self._earlier.get(rule):
            others = [seconds for file, seconds in before.items() if file not in self._begun]
            return fmean(others or before.values()) * self._pace(rule)
        return fmean(self._took[rule]) if rule in self._took else None

    def _before(self, job: Job) -> float | None:
        """Seconds of a job in an earlier run or, if it is new, the mean of its rule then."""
        before = self._earlier.get(job.rule)
        if not before:
            return None
        return before.get(job.benchmark or "") or fmean(before.values())

    def _pace(self, rule: str) -> float:
        """Factor by which jobs of a rule take longer now than in earlier runs."""
        usual = fmean(self._earlier[rule].values())
        return _ratio(self._pairs[rule], prior=self._machine, weight=min(usual, DRAG))


def _ratio(pairs: list[tuple[float, float]], prior: float, weight: float) -> float:
    """Ratio of times (now, earlier) summed over `pairs`, shrunk to `prior` by `weight` seconds."""
    now = sum(seconds for seconds, _ in pairs) + prior * weight
    return now / (sum(earlier for _, earlier in pairs) + weight)
