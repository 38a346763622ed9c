"""The file of X'X is whole or refused."""

import tracemalloc

import h5py
import numpy as np
import pytest

from lindrop.base.errors import Damaged, UserError
from lindrop.linalg.gram import gram_triangle
from lindrop.linalg.triangle import Triangle
from lindrop.store.gram import Provenance, add_shards, read_gram, write_gram
from lindrop.store.hdf5 import seal_file
from lindrop.store.split import read_split_sha256, write_split
from support.gram import interactions
from support.splits import random_split

SPLIT = "5" * 64
PROVENANCE = Provenance("demo", SPLIT, 0, 299, 1234)


@pytest.fixture
def cache(tmp_path):
    """A cache and the triangle in it."""
    gram = gram_triangle(interactions())
    write_gram(tmp_path / "gram.h5", gram, PROVENANCE)
    return tmp_path / "gram.h5", gram


def test_the_cache_gives_back_matrix_and_provenance(cache):
    path, gram = cache
    for room in (False, True):
        again = read_gram(path, SPLIT, room=room)
        assert again.triangle.dtype == np.float32
        assert again.provenance == PROVENANCE
        np.testing.assert_array_equal(again.triangle.values, gram.values)
        np.testing.assert_array_equal(again.matrix, gram.square())
    with h5py.File(path) as file:
        assert (file.attrs["users"], file.attrs["items"], file.attrs["nnz"]) == (300, 150, 1234)
        assert file["triangle"].chunks is None


def test_a_matrix_of_doubles_is_written_as_float32_if_it_fits(tmp_path):
    gram = np.diag([1.0, 2**24 - 1])
    write_gram(tmp_path / "gram.h5", Triangle.of(gram), PROVENANCE)
    np.testing.assert_array_equal(read_gram(tmp_path / "gram.h5").matrix, gram)
    with pytest.raises(UserError, match=r"item 1 .* float32 is exact below"):
        write_gram(tmp_path / "large.h5", Triangle.of(np.diag([1.0, 2**24])), PROVENANCE)
    assert [file.name for file in tmp_path.iterdir()] == ["gram.h5"]


def test_neither_writing_nor_reading_needs_a_second_copy(tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.store.gram.BLOCK", 1 << 18)
    gram = gram_triangle(interactions(100, 1_500))
    tracemalloc.start()
    write_gram(tmp_path / "gram.h5", gram, PROVENANCE)
    written = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    again = read_gram(tmp_path / "gram.h5")
    read = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(again.matrix, gram.square())
    assert written < 0.2 * gram.values.nbytes
    assert read < 1.2 * gram.values.nbytes


def replace(path, name, values):
    """Replace an array in a file; the checksums then agree with what it holds."""
    with h5py.File(path, "r+") as file:
        del file[name]
        if values is not None:
            file[name] = values
    seal_file(path)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("triangle", lambda gram: gram.values[:-1], r"triangle is \(22499,\), not \(22500,\)"),
        ("triangle", lambda gram: gram.square(), r"triangle is \(150, 150\)"),
        ("triangle", lambda gram: None, "triangle is absent"),
        ("triangle", lambda gram: gram.values + 1, "the diagonal of the matrix is not the one"),
        ("diagonal", lambda gram: gram.diagonal()[1:], r"diagonal is \(149,\), not \(150,\)"),
        ("diagonal", lambda gram: gram.diagonal()[::-1], "the diagonal of the matrix is not"),
    ],
)
def test_a_damaged_cache_is_refused(name, change, problem, cache):
    path, gram = cache
    replace(path, name, change(gram))
    with pytest.raises(
        UserError, match=rf"{path}: damaged \({problem}.*\): delete it and run again"
    ):
        read_gram(path)


@pytest.mark.parametrize("large", [1, 1 << 24])
def test_a_changed_number_anywhere_in_the_matrix_is_found(large, tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.store.hdf5.LARGE_BYTES", large)
    gram = gram_triangle(interactions())
    path = tmp_path / "gram.h5"
    write_gram(path, gram, PROVENANCE)
    for dtype in (np.float32, np.float64):
        again = read_gram(path, dtype=dtype).matrix
        assert again.dtype == dtype
        np.testing.assert_array_equal(again, gram.square())
    with h5py.File(path, "r+") as file:
        file["triangle"][500] += 1  # off the diagonal
    with pytest.raises(Damaged, match=r"checksum differs.*the rule gram makes it anew"):
        read_gram(path)


def test_shards_that_are_damaged_are_not_added(tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.store.hdf5.LARGE_BYTES", 1)
    gram = gram_triangle(interactions())
    paths = [str(tmp_path / name) for name in ("0.h5", "1.h5")]
    for first, path in zip((0, 300), paths, strict=True):
        write_gram(path, gram, Provenance("demo", SPLIT, first, first + 299, 1234))
    total, whole = add_shards(paths, SPLIT, 600)
    np.testing.assert_array_equal(total.values, 2 * gram.values)
    assert (whole.last_user, whole.nnz) == (599, 2468)
    with h5py.File(paths[1], "r+") as file:
        file["triangle"][500] += 1
    with pytest.raises(Damaged, match="triangle: its checksum differs"):
        add_shards(paths, SPLIT, 600)


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
    with pytest.raises(UserError, match="expected gram/2, found split/1"):
        read_gram(tmp_path / "split.h5")
