"""Run compiled loops, which release Python's global lock (GIL), in threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def thread_count() -> int:
    """Number of threads: OMP_NUM_THREADS, which Snakemake sets for its jobs, or all cores.

    Of a list such as 4,2, as OpenMP has it for nested loops, the first number counts.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(asked) if asked.isdecimal() and int(asked) else os.cpu_count() or 1


def over_blocks(work: Callable[[int, int], None], total: int, block: int) -> None:
    """Call work(start, stop) for every block of range(total), in `thread_count` threads.

    Blocks must be independent, so that results do not depend on the number of threads.
    """
    for _ in map_blocks(work, total, block):
        pass  # consuming the iterator raises the errors of the blocks


def map_blocks(work: Callable[[int, int], T], total: int, block: int) -> Iterator[T]:
    """Results of work(start, stop) for every block of range(total), in order, run in threads."""
    spans = [(start, min(start + block, total)) for start in range(0, total, block)]
    if thread_count() == 1 or len(spans) == 1:
        yield from (work(*span) for span in spans)
        return
    with ThreadPoolExecutor(thread_count()) as pool:
        yield from pool.map(lambda span: work(*span), spans)
