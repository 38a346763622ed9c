"""Threads for compiled loops, which release the interpreter's lock."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def thread_count() -> int:
    """As many as Snakemake gave to the job (it sets OMP_NUM_THREADS), else every core."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else os.cpu_count() or 1


def over_blocks(work: Callable[[int, int], None], total: int, block: int) -> None:
    """Call work(start, stop) for every block of range(total), several at a time.

    Blocks must be independent: then results do not depend on the number of threads.
    """
    for _ in map_blocks(work, total, block):
        pass  # raises what a block raised


def map_blocks(work: Callable[[int, int], T], total: int, block: int) -> Iterator[T]:
    """As `over_blocks`, with what each block returns, in their order."""
    spans = [(start, min(start + block, total)) for start in range(0, total, block)]
    if thread_count() == 1 or len(spans) == 1:
        yield from (work(*span) for span in spans)
        return
    with ThreadPoolExecutor(thread_count()) as pool:
        yield from pool.map(lambda span: work(*span), spans)
