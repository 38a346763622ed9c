"""What this machine does per second: multiply and add, copy, and count in the nearest cache."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import blas

from lindrop.base.parallel import thread_count


def seconds_of(work: Callable[[], Any], runs: int = 1) -> float:
    """The shortest of several runs: processor time with one thread, otherwise elapsed time."""
    now = time.process_time if thread_count() == 1 else time.perf_counter
    taken = []
    for _ in range(runs):
        start = now()
        work()
        taken.append(now() - start)
    return min(taken)


def product_rate(n: int = 3000) -> float:
    """Operations per second of a float32 matrix product."""
    a = np.asfortranarray(np.random.default_rng(0).standard_normal((n, n), np.float32))
    return 2 * n**3 / seconds_of(lambda: blas.sgemm(1.0, a, a), runs=3)


def copy_rate(megabytes: int = 256) -> float:
    """Bytes that a copy reads and writes per second: each copied byte counts twice."""
    source = np.ones(megabytes << 18, np.float32)
    target = np.empty_like(source)
    parts = np.array_split(np.arange(len(source)), thread_count())
    slices = [slice(part[0], part[-1] + 1) for part in parts]

    def copy(part: slice) -> None:
        target[part] = source[part]

    with ThreadPoolExecutor(len(slices)) as pool:
        return 2 * source.nbytes / seconds_of(lambda: list(pool.map(copy, slices)), runs=4)


@njit(nogil=True)
def _increment(row: np.ndarray, items: np.ndarray, times: int) -> None:
    one = np.float32(1)
    for _ in range(times):
        for item in items:
            row[item] += one


def increment_rate(items: int, length: int = 200, times: int = 100_000) -> float:
    """Increments per second of row[items] += 1, with sorted random items and all data in cache."""
    rng, threads = np.random.default_rng(0), thread_count()
    users = np.sort(rng.choice(items, min(length, items // 2), replace=False)).astype(np.uint32)
    rows = [np.zeros(items, np.float32) for _ in range(threads)]
    _increment(rows[0], users, 1)  # so that compilation is not timed

    def work() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda row: _increment(row, users, times), rows))

    return threads * times * len(users) / seconds_of(work, runs=2)


# what measures each rate, given the number of items
RATES: dict[str, Callable[[int], float]] = {
    "matrix product": lambda items: product_rate(),
    "memory": lambda items: copy_rate(),
    "increments": increment_rate,
}
