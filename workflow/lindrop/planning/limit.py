"""The end of a budget in a run of the workflow: models that are not done by then are left out.

The run says in its environment when its budget ends, which the jobs on the same machine see. A job
whose time is over writes into its outputs why they are left out, and notes it in the file `LEFT`,
so that the next run tries the model again. Of a job that comes later, the run itself writes that:
no script starts.
"""

import faulthandler
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from math import inf
from pathlib import Path
from typing import Any

from lindrop.base.deadline import OutOfTime, until
from lindrop.base.reporting import tell
from lindrop.store.left_out import LeftOut, why_left_out, write_left_out

# which no clock ends: it takes a moment, and one model is an answer
ALWAYS = "popularity"
FIT = "fit of "  # the step after the tuning of a model, which is finished then
ENDS, MINUTES = "LINDROP_BUDGET_ENDS", "LINDROP_BUDGET_MINUTES"
LEFT = Path(".snakemake", "lindrop", "left_out.jsonl")
LAST, MOST = 20.0, 0.1  # seconds of the tables and the page, at most this share of the budget
GRACE = 3.0  # seconds after which a job ends that is in one long step of BLAS
ENDED = "Timeout ("  # what faulthandler then writes into the job's log


def begin(minutes: float, since: float | None = None) -> None:
    """Say to the jobs of this run that its budget begins now, or began at a time before."""
    seconds = 60 * minutes
    start = time.time() if since is None else since
    os.environ[ENDS] = f"{start + seconds - min(LAST, MOST * seconds)}"
    os.environ[MINUTES] = f"{minutes:g}"


def end_of(what: str) -> float:
    """Time at which a model or a stage has to be done, in seconds since 1970."""
    return inf if what == ALWAYS else float(os.environ.get(ENDS, inf))


def reason() -> str:
    """Why something is left out that is not done in time."""
    return f"not done within the budget of {os.environ.get(MINUTES, '')} min"


@contextmanager
def kept_to_budget(
    dataset: str, what: str, outputs: Iterable[str | Path], log: str | Path, step: str = ""
) -> Iterator[None]:
    """End the block when the budget of the run is over; its outputs then say so.

    They say so, too, if an input does. `what` is the model, or the stage that models wait for, and
    `step` is the one of its steps that the next run has to try again, such as `FIT`. In a step of
    BLAS that nothing interrupts, the process ends, which `ended_with_budget` notices.
    """
    end = end_of(what)
    try:
        with until(end, reason()), _process_until(end + GRACE, log):
            yield
    except (OutOfTime, LeftOut) as error:
        why = error.reason if isinstance(error, LeftOut) else str(error)
        _leave_out(dataset, step + what, outputs, why, noted=isinstance(error, OutOfTime))
        if isinstance(error, OutOfTime):
            tell("left out: %s", why, warning=True)


def ended_with_budget(
    run: Callable[..., None], what: str = "", step: str = "", told: bool = True
) -> Callable[..., None]:
    """The function of a Snakemake rule which starts no script once the budget is over.

    `what` is the stage that the rule makes; if empty, it makes something of a model. `step` is that
    of `kept_to_budget`. Where it is not `told`, nobody misses it, and no later run tries it again.
    """

    @wraps(run)
    def started(*given: Any) -> None:
        input, output, _, wildcards, _, _, log = given[:7]  # as Snakemake gives them to a script
        of = what or str(wildcards.model)
        if time.time() < end_of(of):
            Path(log[0]).unlink(missing_ok=True)  # an earlier job may have ended by its clock
            try:
                run(*given)
            except Exception:
                if not _was_ended(log[0]):
                    raise
            else:
                return
        for measured in (each for each in given if hasattr(each, "running_time")):
            # what Snakemake notes of a job's time, of a script that nobody started
            measured.running_time, measured.process_gone = measured.running_time or 0.0, True
        earlier = next(filter(None, map(why_left_out, input)), "")
        first = told and not earlier
        _leave_out(wildcards.dataset, step + of, output, earlier or reason(), noted=first)
        if first:
            about = f"dataset {wildcards.dataset}, {'' if what else 'model '}{of}"
            print(f"lindrop: warning: {about}: left out: {reason()}", file=sys.stderr, flush=True)

    return started


@contextmanager
def _process_until(end: float, log: str | Path) -> Iterator[None]:
    """End this process at the time `end`, whatever it is in, with a line `ENDED` in the log."""
    if end == inf:
        yield
        return
    with Path(log).open("a", encoding="utf-8") as file:
        faulthandler.dump_traceback_later(max(end - time.time(), GRACE), exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _was_ended(log: str | Path) -> bool:
    """Whether the process of a job ended by its clock."""
    with suppress(OSError):
        return f"\n{ENDED}" in f"\n{Path(log).read_text(encoding='utf-8', errors='replace')}"
    return False


def _leave_out(
    dataset: str, what: str, outputs: Iterable[str | Path], why: str, noted: bool
) -> None:
    """Write into outputs why there is no result; a note makes the next run try again."""
    for output in outputs:
        write_left_out(output, why)
    if noted:
        _note(dataset, what)


def times_left_out() -> Counter[tuple[str, str]]:
    """How often a model, its `FIT` or a stage was left out on a dataset, by both names."""
    found: Counter[tuple[str, str]] = Counter()
    with suppress(OSError):
        for line in LEFT.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, TypeError):
                dataset, what = json.loads(line)
                found[dataset, what] += 1
    return found


def _note(dataset: str, what: str) -> None:
    LEFT.parent.mkdir(parents=True, exist_ok=True)
    with LEFT.open("ab", buffering=0) as file:  # one write: lines of two jobs do not mix
        file.write(f"{json.dumps([dataset, what])}\n".encode())
