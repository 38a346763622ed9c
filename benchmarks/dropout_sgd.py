"""Speed of the compiled training of Figure 3 of Mianjy 2018, compared with a loop in NumPy.

    python benchmarks/dropout_sgd.py

The loop is a direct transcription of Algorithm 1, one run after the other; the compiled code uses
all cores. Both alternate over several rounds with the same settings and number of steps, after a
first round that does not count. Medians are compared, of wall time and of the time of all cores
together, which depends less on other load. Finally, two full runs of every setting, with their
checkpoints, give an estimate for the paper's 50 runs. Writes benchmarks/results/dropout_sgd.csv.
"""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pandas as pd

from lindrop.base.parallel import over_blocks, thread_count
from lindrop.dropout.objective import keep_of
from lindrop.dropout.sgd import dropout_sgd
from lindrop.papers.mianjy2018.convergence import PAPER_RUNS, RATE, convergence, start, target

OUTPUT = Path(__file__).resolve().parent / "results" / "dropout_sgd.csv"
SHOWN = ["width", "compiled, µs", "loop, µs", "ratio", "ratio of processor times"]
WIDTHS, LAMS = (20, 80), (0.1, 0.5, 1.0)
RUNS, STEPS, ROUNDS = 2, 5_000, 5
FULL_RUNS = 2
RATES = np.full(STEPS, RATE)

Run = tuple[int, float, np.random.Generator]


def compiled(m: np.ndarray, runs: list[Run]) -> None:
    """Train all runs by the library's compiled code, on all cores."""

    def work(first: int, last: int) -> None:
        for width, lam, rng in runs[first:last]:
            list(dropout_sgd(m, *start(width, rng), keep_of(lam), RATES, [STEPS], rng))

    over_blocks(work, len(runs), 1)


def loop(m: np.ndarray, runs: list[Run]) -> None:
    """Train all runs by Algorithm 1 in plain NumPy."""
    for width, lam, rng in runs:
        u, v = start(width, rng)
        keep = keep_of(lam)
        for eta in RATES:
            x = rng.standard_normal(m.shape[1])
            b = rng.random(width) < keep
            hidden = b * (v.T @ x)
            error = u @ hidden / keep - m @ x
            back = b * (u.T @ error)
            u -= eta * np.outer(error, hidden)
            v -= eta * np.outer(x, back)


def seconds(work: Callable[[], object]) -> np.ndarray:
    """Wall time of a call, and its processor time over all cores."""
    clocks = time.perf_counter, time.process_time
    begin = [clock() for clock in clocks]
    work()
    return np.array([clock() for clock in clocks]) - begin


def measured(m: np.ndarray, width: int) -> pd.Series:
    """Median microseconds per step of both implementations, by wall and processor time."""
    ways = {"compiled": compiled, "loop": loop}
    streams = iter(np.random.default_rng(width).spawn((1 + ROUNDS) * len(ways) * RUNS * len(LAMS)))
    rounds = []
    for _ in range(1 + ROUNDS):
        rounds.append({})
        for name, way in ways.items():
            runs = [(width, lam, next(streams)) for lam in LAMS for _ in range(RUNS)]
            clock, cores = seconds(lambda way=way, runs=runs: way(m, runs))
            rounds[-1] |= {f"{name}, µs": clock, f"{name}, µs of processor": cores}
    return 1e6 * pd.DataFrame(rounds[1:]).median() / (len(runs) * STEPS)


def processor() -> str:
    """Model name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("model name"))


def main() -> None:
    m = target(np.random.default_rng(0))
    table = pd.DataFrame({str(width): measured(m, width) for width in WIDTHS}).T
    table.loc["both"] = table.mean()
    table["ratio"] = table["loop, µs"] / table["compiled, µs"]
    processors = table["loop, µs of processor"] / table["compiled, µs of processor"]
    table["ratio of processor times"] = processors
    full, cores = seconds(lambda: convergence(0, FULL_RUNS)) * PAPER_RUNS / FULL_RUNS
    table.loc["both", ["seconds_of_50_runs", "core_seconds_of_50_runs"]] = full, cores
    table = table.rename_axis("width").round(2).reset_index()
    table = table.assign(
        threads=thread_count(),
        load=round(os.getloadavg()[0], 1),
        processor=processor(),
        numpy=np.__version__,
        numba=numba.__version__,
        python=platform.python_version(),
    )
    table.to_csv(OUTPUT, index=False)
    print(table[SHOWN].astype(str).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main()
