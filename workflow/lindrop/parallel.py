"""Threads for compiled loops, which release the interpreter's lock."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def thread_count() -> int:
    """As many as Snakemake gave to the job (it sets OMP_NUM_THREADS), else every core."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else os.cpu_count() or 1


def over_blocks(work: Callable[[int, int], None], total: int, block: int) -> None:
    """Call work(start, stop) for every block of range(total), several at a time.

    Blocks must be independent: then results do not depend on the number of threads.
    """
    starts = range(0, total, block)
    if thread_count() == 1 or len(starts) == 1:
        for start in starts:
            work(start, min(start + block, total))
        return
    with ThreadPoolExecutor(thread_count()) as pool:
        for _ in pool.map(lambda start: work(start, min(start + block, total)), starts):
            pass  # raises what a block raised
