"""State of a Snakemake run: its jobs that are waiting, running, finished and failed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any

from snakemake_logger_plugin_lindrop.words import duration

COLLECTS = "all"  # the rule that only requests files, which takes no time


@dataclass(frozen=True)
class Job:
    """A job that was started."""

    rule: str
    wildcards: tuple[str, ...]
    log: str | None
    benchmark: str | None
    start: float

    def __str__(self) -> str:
        return " ".join((self.rule, *self.wildcards))


class Run:
    """State of a run, updated from the fields of Snakemake's log records.

    One thread updates it while another may draw it; both must hold `lock`.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.total = 0
        self.waiting: Counter[str] = Counter()  # jobs not started, by rule
        self.running: dict[int, Job] = {}
        self.finished: list[tuple[Job, float]] = []  # with the seconds that each took
        self.failed: set[int] = set()
        self.stopping = False  # the user stopped the run, so jobs that end from now on did not fail
        self.earlier: Mapping[str, Mapping[str, float]] = {}  # seconds by rule and benchmark file
        self.started: dict[int, Job] = {}

    @property
    def done(self) -> int:
        """Number of finished jobs."""
        return len(self.finished)

    @property
    def began(self) -> float | None:
        """Time at which the first job started, or None."""
        return min((job.start for job in self.started.values()), default=None)

    def plan(self, stats: Mapping[str, int], earlier: Mapping[str, Mapping[str, float]]) -> None:
        """Record the number of jobs of each rule and the seconds that jobs took in earlier runs."""
        self.waiting = Counter(stats)
        self.total = self.waiting.pop("total", 0)
        self.earlier = earlier

    def start(self, number: int, fields: Mapping[str, Any], now: float) -> None:
        """Record that a job starts, for the first time or again after a failure."""
        job = Job(
            rule=fields["rule_name"],
            wildcards=tuple(map(str, fields["wildcards"].values())),
            log=next(iter(fields["log"]), None),
            benchmark=fields["benchmark"] or None,
            start=now,
        )
        if number not in self.started and self.waiting[job.rule]:
            self.waiting[job.rule] -= 1
        self.started[number] = self.running[number] = job
        self.failed.discard(number)

    def finish(self, number: int, now: float) -> tuple[Job, float] | None:
        """Record that a job finished; return it with its seconds, or None if it is unknown."""
        job = self.running.pop(number, None)
        if job is None:
            return None
        self.finished.append((job, now - job.start))
        return self.finished[-1]

    def fail(self, number: int) -> Job | None:
        """Record that a job failed or was stopped; return it, or None if it is unknown."""
        if not self.stopping:
            self.failed.add(number)
        return self.running.pop(number, None)

    def parallelism(self, now: float) -> float:
        """Average number of jobs that ran at the same time, at least 1."""
        busy = sum(seconds for _, seconds in self.finished)
        busy += sum(now - job.start for job in self.running.values())
        if self.began is None or now <= self.began:
            return max(len(self.running), 1)
        return max(busy / (now - self.began), 1)

    def summary(self, now: float) -> str:
        """One line with the numbers of jobs done and failed, and the duration of the run."""
        jobs = "1 job" if self.total == 1 else f"{self.total} jobs"
        share = jobs if self.done == self.total else f"{self.done} of {jobs}"
        failed = f", {len(self.failed)} failed," if self.failed else ""
        began = now if self.began is None else self.began
        return f"{share} done{failed} in {duration(now - began)}"
