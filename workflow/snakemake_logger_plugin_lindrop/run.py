"""What is known of a run of Snakemake: which jobs it has, which are done, which work now."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any

from snakemake_logger_plugin_lindrop.words import duration

COLLECTS = "all"  # the rule that only asks for files: it takes no time


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
    """The state of a run, brought up to date by the fields of Snakemake's records.

    The thread that takes the records changes it, another one may draw it: both hold `lock`.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.total = 0
        self.waiting: Counter[str] = Counter()  # jobs not started, by rule
        self.running: dict[int, Job] = {}
        self.finished: list[tuple[Job, float]] = []  # with the seconds that each took
        self.failed: set[int] = set()
        self.stopping = False  # as the user asked for it: jobs that end now have not failed
        self.earlier: Mapping[str, Mapping[str, float]] = {}  # rule, benchmark file: seconds
        self.started: dict[int, Job] = {}

    @property
    def done(self) -> int:
        return len(self.finished)

    @property
    def began(self) -> float | None:
        """When the first job started."""
        return min((job.start for job in self.started.values()), default=None)

    def plan(self, stats: Mapping[str, int], earlier: Mapping[str, Mapping[str, float]]) -> None:
        """Take the number of jobs of each rule, and what jobs took in earlier runs."""
        self.waiting = Counter(stats)
        self.total = self.waiting.pop("total", 0)
        self.earlier = earlier

    def start(self, number: int, fields: Mapping[str, Any], now: float) -> None:
        """Take a job that starts, for the first time or once more after it failed."""
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
        """Take a job that is done, and return it with the seconds that it took."""
        job = self.running.pop(number, None)
        if job is None:
            return None
        self.finished.append((job, now - job.start))
        return self.finished[-1]

    def fail(self, number: int) -> Job | None:
        """Take a job that ended without success, and return it."""
        if not self.stopping:
            self.failed.add(number)
        return self.running.pop(number, None)

    def parallelism(self, now: float) -> float:
        """How many jobs ran at a time, on average."""
        busy = sum(seconds for _, seconds in self.finished)
        busy += sum(now - job.start for job in self.running.values())
        if self.began is None or now <= self.began:
            return max(len(self.running), 1)
        return max(busy / (now - self.began), 1)

    def summary(self, now: float) -> str:
        """How far the run came."""
        jobs = "1 job" if self.total == 1 else f"{self.total} jobs"
        share = jobs if self.done == self.total else f"{self.done} of {jobs}"
        failed = f", {len(self.failed)} failed," if self.failed else ""
        began = now if self.began is None else self.began
        return f"{share} done{failed} in {duration(now - began)}"
