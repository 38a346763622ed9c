"""Fuzzers: many random inputs from a fixed seed, each compared with an oracle.

`make test` runs about a minute of each file in tests/fuzz. `make fuzz HOURS=1` gives each fuzzer
the same time and new seeds, and writes how many inputs were tried to benchmarks/results/fuzz.csv.
An input that fails is shown as it must be typed; keep it as a test.
"""

import csv
import os
import signal
import time
from collections import Counter
from contextlib import contextmanager

from hypothesis import HealthCheck, Phase, given, seed, settings

from lindrop.base.errors import UserError
from support.repository import REPOSITORY

COUNTS = REPOSITORY / "benchmarks" / "results" / "fuzz.csv"
FIELDS = ("fuzzer", "seconds", "inputs", "accepted", "refused")
LONG = float(os.environ.get("LINDROP_FUZZ_SECONDS", 0))  # of each fuzzer
BATCH = 1000  # inputs from one seed
HANG = 5.0  # seconds of processor time
COMMON = {
    "database": None,
    "deadline": None,  # `limited` measures what the machine's load does not change
    "print_blob": False,
    "suppress_health_check": list(HealthCheck),
}


class Hang(AssertionError):
    """An input that takes more than HANG seconds."""


@contextmanager
def limited():
    """Raise Hang where the block takes more than HANG seconds of processor time."""

    def stop(*_):
        raise Hang(f"more than {HANG} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(function, *arguments, **named):
    """What a function returns, and the one line with which it refuses; one of both is None."""
    try:
        with limited():
            return function(*arguments, **named), None
    except UserError as error:
        message = str(error)
        assert message.strip() == message != ""
        assert "\n" not in message
        assert len(message) < 2000
        message.encode()  # what a terminal must show
        return None, message


def fuzzed(inputs, **strategies):
    """Make a test of a function of random inputs that returns whether its input was accepted."""

    def decorate(body):
        def test():
            found = Counter()

            def run(**drawn):
                found["inputs"] += 1
                found["accepted" if body(**drawn) else "refused"] += 1

            start, number = time.monotonic(), 0
            first = time.time_ns() if LONG else 0
            while True:
                once = settings(
                    **COMMON,
                    max_examples=BATCH if LONG else inputs,
                    phases=(Phase.generate, Phase.shrink),
                )
                seed(first + number)(once(given(**strategies)(run)))()
                number += 1
                if time.monotonic() - start >= LONG:
                    break
            assert found["accepted"], "no input was accepted: the fuzzer compares nothing"
            assert found["refused"], "no input was refused: the fuzzer damages nothing"
            if LONG:
                count(body.__name__.removeprefix("test_"), time.monotonic() - start, found)

        test.__name__, test.__doc__ = body.__name__, body.__doc__
        return test

    return decorate


def count(name, seconds, found):
    """Write what one fuzzer did to the table of all."""
    rows = {}
    if COUNTS.exists():
        with COUNTS.open(newline="") as file:
            rows = {row["fuzzer"]: row for row in csv.DictReader(file)}
    rows[name] = {"fuzzer": name, "seconds": round(seconds), **dict.fromkeys(FIELDS[2:], 0)} | found
    with COUNTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in sorted(rows))
