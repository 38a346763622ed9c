"""X'X is exact, adds up from shards and stays within its memory; its cache is whole or refused."""

import tracemalloc

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

import lindrop.base.memory
from lindrop.base.errors import UserError
from lindrop.base.memory import RETRIED, available_bytes, require_memory, retry_gets_more
from lindrop.linalg.gram import gram_matrix, needed_bytes, user_shards
from lindrop.store.gram import Provenance, read_gram, write_gram
from lindrop.store.split import read_split_sha256, write_split
from support.splits import random_split

SPLIT = "5" * 64
PROVENANCE = Provenance("demo", SPLIT, 0, 299, 1234)


def interactions(users=300, items=150, density=0.1, seed=0, most=1):
    """Counts up to `most`; some users and items have none."""
    random = np.random.default_rng(seed)
    x = (random.random((users, items)) < density) * random.integers(1, most + 1, (users, items))
    x[random.random(users) < 0.1] = 0
    x[:, random.random(items) < 0.1] = 0
    return sp.csr_array(x.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1, 2, 7])
@pytest.mark.parametrize("shape", [(300, 150), (3, 200), (200, 1), (1, 1), (0, 5), (5, 0)])
def test_the_matrix_equals_the_dense_product(shape, most, dtype):
    x = interactions(*shape, most=most)
    dense = x.toarray().astype(np.float64)
    gram = gram_matrix(x, dtype)
    assert gram.dtype == dtype
    assert gram.flags.c_contiguous
    np.testing.assert_array_equal(gram, dense.T @ dense)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_and_the_order_of_entries_do_not_matter(threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    x = interactions(items=333, most=2)
    random = np.random.default_rng(1)
    shuffled = sp.csr_array((x.data.copy(), x.indices.copy(), x.indptr.copy()), shape=x.shape)
    for user in range(x.shape[0]):
        row = slice(*x.indptr[user : user + 2])
        order = random.permutation(row.stop - row.start)
        for array in (shuffled.data, shuffled.indices):
            array[row] = array[row][order]
    before = shuffled.indices.copy()
    np.testing.assert_array_equal(gram_matrix(shuffled), (x.T @ x).toarray())
    np.testing.assert_array_equal(shuffled.indices, before)


def test_duplicate_entries_add_up():
    x = sp.csr_array((np.ones(3, np.float32), [1, 0, 1], [0, 3]), shape=(1, 2))
    np.testing.assert_array_equal(gram_matrix(x), [[1, 2], [2, 4]])


@pytest.mark.parametrize("shards", [1, 2, 7, 400])
def test_shards_add_up_to_the_same_bits(shards):
    x = interactions(most=2)
    parts = user_shards(x.shape[0], shards)
    assert [user for part in parts for user in part] == list(range(x.shape[0]))
    assert {len(part) for part in parts} <= {x.shape[0] // shards, x.shape[0] // shards + 1}
    total = np.zeros((x.shape[1], x.shape[1]), np.float32)
    for part in parts:
        total += gram_matrix(x[part.start : part.stop])
    np.testing.assert_array_equal(total, gram_matrix(x))


def test_the_result_is_all_that_is_allocated():
    x = interactions(1_000, 2_000, 0.02)
    gram_matrix(x[:10])  # compile
    tracemalloc.start()
    gram = gram_matrix(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gram.nbytes <= peak <= 1.25 * gram.nbytes
    assert peak <= 1.02 * needed_bytes(2_000, x.nnz)


@pytest.mark.parametrize("most", [4096, np.nan])
def test_counts_that_are_not_exact_are_refused(most):
    x = sp.csr_array(np.array([[0, 1, most]], np.float32))
    with pytest.raises(UserError, match=r"item 2 .* float32 is exact below 16,777,216"):
        gram_matrix(x)
    assert gram_matrix(x.astype(np.float64), np.float64).shape == (3, 3)


def test_a_matrix_that_cannot_fit_is_refused_before_work_starts():
    x = sp.csr_array((2, 10**7), dtype=np.float32)
    with pytest.raises(UserError, match=r"X'X of 10,000,000 items needs 400,000\.0 GB, .* are av"):
        gram_matrix(x)


def fake_system(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 90 kB\nMemFree: 7 kB\nMemAvailable:   80 kB\nHugePages: 0\n"}
V2 = {
    "proc/self/cgroup": "0::/job/step\n",
    "sys/fs/cgroup/job/step/memory.max": "max\n",
    "sys/fs/cgroup/job/step/memory.current": "10000\n",
    "sys/fs/cgroup/job/memory.max": "50000\n",
    "sys/fs/cgroup/job/memory.current": "30000\n",
    "sys/fs/cgroup/job/memory.stat": "anon 20000\ninactive_file 4000\n",
}
V1 = {
    "proc/self/cgroup": "4:cpu,cpuacct:/job\n3:memory:/job\n",
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "20000",
    "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "12000",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**63 - 4096),
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "12000",
}


@pytest.mark.parametrize(
    ("files", "available"),
    [
        ({}, float("inf")),
        (MEMINFO, 80 * 1024),
        (MEMINFO | V2, 24_000),
        (MEMINFO | V1, 8_000),
        (MEMINFO | V2 | {"sys/fs/cgroup/job/memory.max": "90000000"}, 80 * 1024),
    ],
    ids=["unknown", "machine", "cgroup v2", "cgroup v1", "limit above the machine's"],
)
def test_the_lowest_limit_counts(files, available, tmp_path):
    assert available_bytes(fake_system(tmp_path, files)) == available


@pytest.mark.parametrize(
    ("files", "needed", "more"),
    [
        (V2, 24_001, True),
        (V2, 24_000, False),
        (V2 | {"proc/meminfo": "MemTotal: 97 kB\n"}, 24_001, False),
        (V1, 8_001, True),
        ({}, 1e12, False),
    ],
    ids=["cgroup v2", "room enough", "no larger machine", "cgroup v1", "no limit"],
)
def test_a_retry_gets_more_where_the_limit_is_that_of_a_job(
    files, needed, more, tmp_path, monkeypatch
):
    system = fake_system(tmp_path, {"proc/meminfo": "MemTotal: 98 kB\n"} | files)
    assert not retry_gets_more(needed, system)
    monkeypatch.setenv(RETRIED, "with more memory")
    assert retry_gets_more(needed, system) == more


def test_too_little_memory_is_one_line(monkeypatch):
    monkeypatch.setattr(lindrop.base.memory, "available_bytes", lambda: 8e9)
    require_memory(7.9e9, "fitting EASE")
    with pytest.raises(UserError, match=r"^fitting EASE needs 12\.3 GB, 8\.0 GB are available; "):
        require_memory(12.3e9, "fitting EASE")


@pytest.fixture
def cache(tmp_path):
    """A cache and the matrix in it."""
    gram = gram_matrix(interactions())
    write_gram(tmp_path / "gram.h5", gram, PROVENANCE)
    return tmp_path / "gram.h5", gram


def test_the_cache_gives_back_matrix_and_provenance(cache):
    path, gram = cache
    again = read_gram(path, SPLIT)
    np.testing.assert_array_equal(again.matrix, gram)
    np.testing.assert_array_equal(again.diagonal, gram.diagonal())
    assert again.matrix.dtype == np.float32
    assert again.provenance == PROVENANCE
    with h5py.File(path) as file:
        assert (file.attrs["users"], file.attrs["items"], file.attrs["nnz"]) == (300, 150, 1234)
        assert file["gram"].chunks is None


def test_a_matrix_of_doubles_is_written_as_float32_if_it_fits(tmp_path):
    gram = np.diag([1.0, 2**24 - 1])
    write_gram(tmp_path / "gram.h5", gram, PROVENANCE)
    np.testing.assert_array_equal(read_gram(tmp_path / "gram.h5").matrix, gram)
    with pytest.raises(UserError, match=r"item 1 .* float32 is exact below"):
        write_gram(tmp_path / "large.h5", np.diag([1.0, 2**24]), PROVENANCE)
    assert [file.name for file in tmp_path.iterdir()] == ["gram.h5"]


def test_neither_writing_nor_reading_needs_a_second_copy(tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.store.gram.BLOCK_BYTES", 1 << 20)
    gram = gram_matrix(interactions(100, 1_500))
    tracemalloc.start()
    write_gram(tmp_path / "gram.h5", gram, PROVENANCE)
    written = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    again = read_gram(tmp_path / "gram.h5")
    read = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(again.matrix, gram)
    assert written < 0.2 * gram.nbytes
    assert read < 1.2 * gram.nbytes


def replace(path, name, values):
    with h5py.File(path, "r+") as file:
        del file[name]
        if values is not None:
            file[name] = values


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("gram", lambda gram: gram[:-1], r"gram is \(149, 150\), not \(150, 150\)"),
        ("gram", lambda gram: gram[:-1, :-1], r"gram is \(149, 149\)"),
        ("gram", lambda gram: None, "gram is absent"),
        ("gram", lambda gram: gram + 1, "the diagonal of the matrix is not the one"),
        ("diagonal", lambda gram: gram.diagonal()[1:], r"diagonal is \(149,\), not \(150,\)"),
        ("diagonal", lambda gram: gram.diagonal()[::-1], "the diagonal of the matrix is not"),
    ],
)
def test_a_damaged_cache_is_refused(name, change, problem, cache):
    path, gram = cache
    replace(path, name, change(gram))
    with pytest.raises(UserError, match=rf"{path}: damaged, {problem}.*; delete it and rerun"):
        read_gram(path)


def test_a_cache_cut_short_is_refused(cache):
    path, _ = cache
    whole = path.read_bytes()
    for length in (0, 500, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match=rf"{path}: .*delete it"):
            read_gram(path)


def test_a_cache_of_another_split_is_refused(cache, tmp_path):
    path, _ = cache
    write_split(tmp_path / "split.h5", random_split(), {"format": "csv"})
    sha256 = read_split_sha256(tmp_path / "split.h5")
    assert len(sha256) == 64
    with pytest.raises(UserError, match=rf"{path}: counts split 5+ of demo, not .*{sha256[:12]}"):
        read_gram(path, sha256)
    with pytest.raises(UserError, match="expected gram/1, found split/1"):
        read_gram(tmp_path / "split.h5")
