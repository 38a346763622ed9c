"""How many threads a process takes."""

import os

import pytest

from lindrop.base.parallel import thread_count


@pytest.mark.parametrize(
    ("given", "threads"),
    [("3", 3), ("4,2", 4), (" 2 ", 2), ("", None), ("0", None), ("-1", None), ("²", None)],
)
def test_what_openmp_takes_counts_and_anything_else_is_all_cores(given, threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert thread_count() == (threads or os.cpu_count())
