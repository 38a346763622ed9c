"""Loops are compiled when they are first called, together with the loops that they call."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numba
import numpy as np
import pytest

from lindrop.base.compiling import compiled_by
from support.repository import REPOSITORY

OTHER = """
@compiled
def halved(x):
    return x / 2 * scale()
"""
CODE = """
@compiled
def total(x):
    '''Sum of an array.'''
    return halved(2 * x.sum()) * scale()

@compiled
def scale():
    return 1.0
"""


@pytest.fixture
def loops():
    """A module whose loop calls one of its own and one of another module; none is compiled yet."""
    one, other = ModuleType("one"), ModuleType("other")
    compiled = compiled_by(nogil=True)
    for module, code in ((one, CODE), (other, OTHER)):
        vars(module).update(compiled=compiled, np=np)
        exec(code, vars(module))
    other.scale, one.halved = one.scale, other.halved
    return one


def test_a_loop_and_those_that_it_calls_are_compiled_at_the_first_call(loops):
    total = loops.total
    assert total.__doc__ == "Sum of an array."
    assert total(np.arange(100.0)) == 4950
    assert total(np.arange(10.0)) == 45
    assert loops.scale() == 1  # called by Python itself
    assert total._made.nopython_signatures


def test_threads_that_call_first_wait_for_the_compiler(loops):
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda n: loops.total(np.arange(float(n))), range(100, 140))]
    assert found == [n * (n - 1) / 2 for n in range(100, 140)]


def test_a_thread_that_calls_while_another_makes_the_loops_waits_for_all_of_them(
    loops, monkeypatch
):
    """Whatever has been made when the others look, none compiles with half of the loops."""
    made, found = numba.njit, []
    with ThreadPoolExecutor(9) as pool:

        def njit(**options):
            found.append(pool.submit(loops.total, np.arange(5.0)))
            found.append(pool.submit(loops.halved, np.arange(5.0)))
            time.sleep(0.05)  # they begin now
            return made(**options)

        monkeypatch.setattr(numba, "njit", njit)
        assert loops.total(np.arange(5.0)) == 10
    assert len(found) == 6  # three loops were made
    for result, each in zip(found, [10, np.arange(5.0) / 2] * 3, strict=True):
        np.testing.assert_array_equal(result.result(), each)


def test_a_cached_loop_is_compiled_anew_when_another_file_that_it_uses_changes(tmp_path):
    """Numba alone would look at the file of the loop itself."""
    header = "from lindrop.base.compiling import compiled_by\ncompiled = compiled_by(cache=True)\n"
    double = f"{header}\n@compiled\ndef scaled(x):\n    return 2 * x\n"
    limit = "LIMIT = 100.0\n"
    (tmp_path / "scale.py").write_text(double)
    (tmp_path / "limits.py").write_text(limit)
    (tmp_path / "total.py").write_text(
        f"{header}from scale import scaled\nfrom limits import LIMIT\n\n"
        "@compiled\ndef total(x):\n    return min(scaled(x) + 1, LIMIT)\n"
    )

    def run():
        code = "from total import total as t; print(t(7.0), sum(t._made.stats.cache_hits.values()))"
        path = f"{tmp_path}:{REPOSITORY / 'workflow'}"
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().split()

    assert run() == ["15.0", "0"]
    assert run() == ["15.0", "1"]
    (tmp_path / "scale.py").write_text(double.replace("2 * x", "-3 * x"))
    assert run() == ["-20.0", "0"]
    (tmp_path / "limits.py").write_text("LIMIT = -100.0\n")
    assert run() == ["-100.0", "0"]
    assert run() == ["-100.0", "1"]


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("lindrop", {"numpy"}),
        ("lindrop.store.model", {"numba", "pandas", "matplotlib"}),
        ("lindrop.models.base", {"numba", "pandas", "h5py"}),
        ("lindrop.models.catalogue, lindrop.models.memory", {"numpy"}),
        ("lindrop.data.split, lindrop.store.split", {"numba", "pandas", "scipy.linalg"}),
        ("lindrop.linalg.gram, lindrop.store.gram", {"numba", "pandas", "scipy.linalg"}),
        ("lindrop.serving.recommend, lindrop.models.tuning", {"numba", "matplotlib"}),
    ],
)
def test_what_is_not_needed_is_not_imported(modules, absent):
    code = f"import sys, {modules}; print(*{absent} & set(sys.modules))"
    command, folder = [sys.executable, "-c", code], REPOSITORY / "workflow"
    assert subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout == b"\n"
