"""Estimates of memory: at most 15 % above the measured peak, with the constants of the code."""

import os
import tracemalloc

import memory as benchmark
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lindrop.linalg import inverse, spectrum, triangle
from lindrop.models import baseline, memory
from lindrop.models.base import ScaledSymmetric, SparseItems
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import Size
from lindrop.models.pattern import columns, hybrid, rows, solver
from lindrop.models.sampled import fit_sampled
from lindrop.ranking import evaluation, metrics
from support.repository import REPOSITORY


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder with the split of a small generated set and its X'X and spectrum."""
    folder = tmp_path_factory.mktemp("memory")
    benchmark.make_split(folder, users=2_500, items=2_100, interactions=100_000)
    return folder


def test_estimates_are_at_most_15_percent_above_the_peak(folder):
    jobs = ("gram", ""), ("spectrum", ""), ("fit", "ease"), ("fit", "wmf")
    for rule, model in jobs:  # compiling takes memory that no later run takes
        benchmark.measured(folder, rule, model)
    measured = [benchmark.measured(folder, rule, model) for rule, model in jobs]
    assert all(1.0 <= row["ratio"] <= 1.15 for row in measured), measured


def test_its_page_shows_every_model_within_15_percent():
    found = pd.read_csv(benchmark.OUTPUT, keep_default_na=False)
    assert found["ratio"].between(1.0, 1.15).all()
    fits = set(found["model"][found["rule"].str.startswith("fit")])
    assert set(CATALOGUE) | set(benchmark.VARIANTS) == fits
    page = (REPOSITORY / "docs" / "benchmarks.md").read_text()
    assert benchmark.table(found).to_markdown(index=False, disable_numparse=True) in page


def test_what_a_job_takes_without_data_is_measured_beside_other_work_and_once(monkeypatch):
    monkeypatch.setenv(baseline.KNOWN, "")
    monkeypatch.delenv(baseline.KNOWN)
    baseline.begin_to_measure()
    begun = dict(baseline._begun)
    assert len(begun) == 1
    baseline.begin_to_measure()
    assert begun == baseline._begun
    found = baseline.baseline_bytes.__wrapped__()
    assert 5e7 < found == float(os.environ[baseline.KNOWN])
    baseline.begin_to_measure()
    assert not baseline._begun


def test_constants_are_those_of_the_code():
    assert memory.BLOCK_BYTES == evaluation.BLOCK_BYTES
    assert max(metrics.metric(name).k for name in metrics.DEFAULT) == memory.DEPTH
    assert memory.PIVOTS == inverse.PIVOTS
    assert memory.PANEL == triangle.PANEL
    assert ScaledSymmetric.blocks == memory.BLOCKS
    assert (memory.DENSE, memory.KRYLOV) == (spectrum.DENSE, spectrum.BLOCK)
    assert (memory.PART, memory.BLOCK) == (solver.WEIGHTS, solver.COLUMNS)
    assert memory.LONGEST == solver.LONGEST
    assert memory.SHARED == columns.LARGEST
    assert memory.DECODED == hybrid.ITEMS
    assert memory.BANDS == rows.BANDS


def test_a_spread_needs_memory_for_the_longest_columns():
    """A long column is a system of four times as many unknowns.

    A shard of few columns may have only long ones, so its estimate grows most.
    """
    size, given = Size(10**6, 10**6, 4 * 10**7), {"neighbours": 500}
    for columns_of_job, ratio in ((10**6, (1.0, 1.1)), (10**5, (1.5, 4.0))):
        even, uneven = (
            memory.pattern_columns(size, columns_of_job, given | {"spread": spread})
            for spread in (0.0, 0.5)
        )
        assert ratio[0] < uneven / even < ratio[1]


@pytest.mark.parametrize("model", CATALOGUE)
def test_every_estimate_grows_with_the_data(model):
    options = {"factors": [10, 20], "batch": 100, "latent": 10}
    small, large = Size(900, 3_000, 20_000, tested=90), Size(9_000, 5_000, 300_000, tested=900)
    estimate = CATALOGUE[model].needed_bytes
    assert 0 < estimate(small, [50], **options) < estimate(large, [50], **options)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(
    ("users", "items", "each", "rank", "batch"),
    [  # which arrays are the most differs: a step's, X' and the masked X, the objective's
        (1_000, 3_000, 20, 200, None),
        (3_000, 600, 100, 20, None),
        (20_000, 1_000, 10, 40, 2_000),
    ],
)
def test_a_training_by_sampled_dropout_allocates_what_is_estimated(
    users, items, each, rank, batch, p, monkeypatch
):
    rng = np.random.default_rng(0)
    x = sp.random_array((users, items), density=each / items, format="csr", rng=rng)
    x = sp.csr_array((x.data.astype(np.float32), x.indices.astype(np.int32), x.indptr), x.shape)
    monkeypatch.setattr(memory, "sampled_batch", lambda users, items: batch or users)
    fit_sampled(x[:50], 2, p, 300.0, epochs=1)  # compiles
    tracemalloc.start()
    fit_sampled(x, rank, p, 300.0, epochs=2, batch=batch or users)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    estimate = memory.sampled_bytes(Size(users, items, x.nnz), rank, {"p": [p]})
    assert 1.0 <= memory.MARGIN * estimate / peak <= 1.15


@pytest.mark.parametrize(
    ("users", "items", "each"), [(2_000, 1_000, 20), (4_000, 3_000, 300), (100_000, 400, 5)]
)
def test_ranking_by_a_sparse_model_allocates_what_is_estimated(users, items, each):
    """The more users at once, the more memory: there is no block of scores that bounds them."""
    rng, shares = np.random.default_rng(0), np.full(items, 0.1)
    given, held_out, b = (
        sp.random_array((rows, items), density=count / items, format="csr", rng=rng).astype("f4")
        for rows, count in ((users, each), (users, each / 4), (items, 20))
    )
    model = SparseItems(b.indptr, b.indices, b.data)
    evaluation.evaluate(model, given[:9], held_out[:9], shares=shares)  # compiles
    tracemalloc.start()
    evaluation.evaluate(model, given, held_out, shares=shares, by_groups=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    estimate = memory.lists_bytes(Size(1, items, each, tested=users))
    assert 1.0 <= memory.MARGIN * estimate / peak <= 1.15


def test_the_factors_of_wmf_are_counted():
    size = Size(10**6, 10**4, 10**7)
    few, many = (CATALOGUE["wmf"].needed_bytes(size, [], factors=[f]) for f in (8, 108))
    assert many - few >= 4 * 100 * (10**6 + 10**4)
