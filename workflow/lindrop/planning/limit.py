"""The end of a budget in a run of the workflow: models that are not done by then are left out.

The run says in its environment when its budget ends, which the jobs on the same machine see. A job
whose time is over writes into its outputs why they are left out, and notes it in the file `LEFT`,
so that the next run tries the model again.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path

from lindrop.base.deadline import OutOfTime, until
from lindrop.base.reporting import tell
from lindrop.store.left_out import LeftOut, write_left_out

# which no clock ends: it takes a moment, and one model is an answer
ALWAYS = "popularity"
ENDS, MINUTES = "LINDROP_BUDGET_ENDS", "LINDROP_BUDGET_MINUTES"
LEFT = Path(".snakemake", "lindrop", "left_out.jsonl")


def begin(minutes: float) -> None:
    """Say to the jobs of this run that its budget begins now."""
    os.environ[ENDS], os.environ[MINUTES] = f"{time.time() + 60 * minutes}", f"{minutes:g}"


@contextmanager
def kept_to_budget(dataset: str, model: str, outputs: Iterable[str | Path]) -> Iterator[None]:
    """End the block when the budget of the run is over; its outputs then say so.

    They say so, too, if an input does.
    """
    minutes = os.environ.get(MINUTES, "")
    reason = f"not done when the budget of {minutes} min was over"
    try:
        with until(inf if model == ALWAYS else float(os.environ.get(ENDS, inf)), reason):
            yield
    except (OutOfTime, LeftOut) as error:
        why = error.reason if isinstance(error, LeftOut) else str(error)
        for output in outputs:
            write_left_out(output, why)
        if isinstance(error, OutOfTime):
            _note(dataset, model)
            tell("left out: %s", why, warning=True)


def times_left_out() -> Counter[tuple[str, str]]:
    """How often a model was left out on a dataset, by both names, in all runs of this folder."""
    found: Counter[tuple[str, str]] = Counter()
    with suppress(OSError):
        for line in LEFT.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, TypeError):
                dataset, model = json.loads(line)
                found[dataset, model] += 1
    return found


def _note(dataset: str, model: str) -> None:
    LEFT.parent.mkdir(parents=True, exist_ok=True)
    with LEFT.open("ab", buffering=0) as file:  # one write: lines of two jobs do not mix
        file.write(f"{json.dumps([dataset, model])}\n".encode())
