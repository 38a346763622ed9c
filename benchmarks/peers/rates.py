"""Current rates of this machine as JSON: a float32 matrix product in GFLOP/s, a copy in GB/s."""

import json
import time
from collections.abc import Callable

import numpy as np

SIZE, ENTRIES = 2000, 20_000_000


def seconds(work: Callable[[], object]) -> float:
    """Shortest wall time of three calls."""
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


if __name__ == "__main__":
    a = np.random.default_rng(0).standard_normal((SIZE, SIZE), np.float32)
    source = np.ones(ENTRIES, np.float32)
    target = np.empty_like(source)
    product = seconds(lambda: np.matmul(a, a))
    copy = seconds(lambda: np.copyto(target, source))
    print(
        json.dumps(
            {
                "product_gflops": round(2 * SIZE**3 / product / 1e9, 1),
                "copy_gbs": round(2 * source.nbytes / copy / 1e9, 1),
            }
        )
    )
