"""Results on other kernels of OpenBLAS and with other numbers of threads: docs/performance.md."""

import os
import re
import sys

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from support import processes
from support.models import WITHOUT_TORCH
from support.repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "performance.md"
KERNELS = "Haswell", "SkylakeX"
FEATURES = {"Haswell": "AVX2", "SkylakeX": "AVX512F"}


def promised():
    """Rows of the page's table by model: equal with any number of threads, largest differences."""
    section = (
        PAGE.read_text(encoding="utf-8")
        .partition("## Which results are equal")[2]
        .partition("\n## ")[0]
    )
    lines = re.findall(r"^\| (`.*?) \| (.*?) \| (.*?) \| (.*?) \|$", section, re.MULTILINE)
    return {
        name: (threads == "the same bytes", float(scores), float(metrics))
        for models, threads, scores, metrics in lines
        for name in re.findall(r"`(\w+)`", models)
    }


def fitted(folder, kernels, threads):
    """What `support.fits_of_kernels` finds with these kernels; skips if this machine lacks them."""
    output = folder / f"{kernels}_{threads}.npz"
    environment = os.environ | {
        "OPENBLAS_CORETYPE": kernels,
        "NPY_DISABLE_CPU_FEATURES": "" if kernels == "SkylakeX" else " ".join(wide()),
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "PYTHONPATH": os.pathsep.join(str(REPOSITORY / part) for part in ("workflow", "tests")),
    }
    command = [sys.executable, "-m", "support.fits_of_kernels", str(output)]
    done = processes.run(command, env=environment)
    found = dict(np.load(output)) if done.returncode == 0 else {"kernels": []}
    assert done.returncode == 0 or lacks(kernels), done.stdout
    if list(found["kernels"]) != [kernels]:
        pytest.skip(f"needs a processor with {FEATURES[kernels]} and an OpenBLAS with {kernels}")
    return found


def lacks(kernels):
    """Whether the processor, as NumPy sees it, lacks the instructions of these kernels."""
    return not __cpu_features__.get(FEATURES[kernels], False)


def wide():
    """Groups of AVX-512 instructions that NumPy chooses its own loops by, on this processor."""
    groups = __cpu_dispatch__ if __cpu_features__.get("AVX512F") else []
    return [
        name for name in groups if ("AVX512" in name or "V4" in name) and __cpu_features__[name]
    ]


@pytest.fixture(scope="module")
def one_thread(tmp_path_factory):
    return fitted(tmp_path_factory.mktemp("one"), KERNELS[0], 1)


@pytest.fixture(scope="module")
def two_threads(tmp_path_factory):
    return fitted(tmp_path_factory.mktemp("two"), KERNELS[0], 2)


@pytest.fixture(scope="module")
def other_kernels(tmp_path_factory):
    return fitted(tmp_path_factory.mktemp("other"), KERNELS[1], 1)


def differences(one, other, name):
    """Relative difference of the scores, and of the mean metrics the largest."""
    scores = [found[f"{name}, scores"].astype(float) for found in (one, other)]
    means = [np.nanmean(found[f"{name}, metrics"], axis=0) for found in (one, other)]
    distance = np.linalg.norm(scores[0] - scores[1]) / np.linalg.norm(scores[0])
    return distance, np.abs(means[0] - means[1]).max()


def test_the_page_has_every_model():
    assert set(promised()) == set(WITHOUT_TORCH)


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_other_kernels_change_a_model_by_no_more_than_the_page_says(
    name, one_thread, other_kernels
):
    scores, metrics = differences(one_thread, other_kernels, name)
    assert scores <= promised()[name][1]
    assert metrics <= promised()[name][2]


@pytest.mark.parametrize("name", WITHOUT_TORCH)
def test_another_number_of_threads_changes_no_byte_where_the_page_says_so(
    name, one_thread, two_threads
):
    same, *most = promised()[name]
    if same:
        for part in ("scores", "metrics"):
            one, other = (found[f"{name}, {part}"] for found in (one_thread, two_threads))
            assert one.tobytes() == other.tobytes()
    scores, metrics = differences(one_thread, two_threads, name)
    assert scores <= most[0]
    assert metrics <= most[1]
