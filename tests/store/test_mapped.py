"""The large arrays of a model stay where the system keeps the file: shared, and read once."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from lindrop.base.errors import Damaged
from lindrop.models.base import Fit, FullRank, LowRank
from lindrop.store.hdf5 import seal_file
from lindrop.store.model import read_model, write_model
from support.models import ITEMS

LARGE = 2300  # items: 21 MB


def names(items):
    return np.array([f"i{number}" for number in range(items)], object)


@pytest.fixture
def path(tmp_path):
    b = np.random.default_rng(0).standard_normal((LARGE, LARGE), np.float32)
    write_model(tmp_path / "model.h5", "ease", Fit(FullRank(b)), names(LARGE))
    return tmp_path / "model.h5"


def anonymous_bytes():
    """Memory of this process that no file backs."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("RssAnon:"))
    return 1024 * int(line.split()[1])


def test_a_large_matrix_takes_no_memory_of_its_own(path):
    read_model(path)  # once before, so that compiled code is loaded
    before = anonymous_bytes()
    matrix = read_model(path).fit.model.matrix
    assert anonymous_bytes() - before < matrix.nbytes / 4
    expected = np.random.default_rng(0).standard_normal((LARGE, LARGE), np.float32)
    np.testing.assert_array_equal(matrix, expected)
    assert matrix.flags.c_contiguous
    assert matrix.flags.aligned


def test_what_is_written_to_it_nobody_else_sees(path):
    kept = path.read_bytes()
    matrix = read_model(path).fit.model.matrix
    matrix *= 2
    assert path.read_bytes() == kept
    other = read_model(path).fit.model.matrix
    assert matrix[3, 4] == 2 * other[3, 4]


def test_it_outlives_its_file(path):
    """A job that makes the file anew renames another one to its place."""
    matrix = read_model(path).fit.model.matrix
    expected = matrix.copy()
    new = path.with_name("new.h5")
    write_model(new, "ease", Fit(FullRank(-expected)), names(LARGE))
    new.replace(path)
    np.testing.assert_array_equal(matrix, expected)
    np.testing.assert_array_equal(read_model(path).fit.model.matrix, -expected)


@pytest.mark.parametrize("place", [0, LARGE**2 // 2, LARGE**2 - 1])
def test_a_changed_bit_is_refused(path, place):
    with h5py.File(path) as file:
        first = file["matrix"].id.get_offset()
    with path.open("rb+") as file:
        file.seek(first + 4 * place)
        byte = file.read(1)
        file.seek(first + 4 * place)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(Damaged, match="matrix: its checksum differs"):
        read_model(path)


def test_a_number_that_is_not_finite_is_refused(path):
    with h5py.File(path, "r+") as file:
        file["matrix"][LARGE - 1, LARGE - 1] = np.nan
    seal_file(path)
    with pytest.raises(Damaged, match="matrix is not finite"):
        read_model(path)


def test_an_array_at_an_odd_place_is_copied(tmp_path, monkeypatch):
    monkeypatch.setattr("lindrop.store.hdf5.LARGE_BYTES", 1)
    monkeypatch.setattr("lindrop.store.hdf5.map_large", None)
    rng, path = np.random.default_rng(0), tmp_path / "model.h5"
    u = rng.standard_normal((len(ITEMS), 3))
    write_model(path, "edlae", Fit(LowRank(u, u)), ITEMS)
    with h5py.File(path, "r+") as file:  # HDF5 gives an array any place; this one is odd
        del file["encoder"], file["decoder"]
        file["odd"] = np.zeros(100_001, np.uint8)
        file["encoder"] = file["decoder"] = np.repeat(u, 1000, axis=1)
        assert file["encoder"].id.get_offset() % 8
        del file["odd"]  # its place stays empty
    seal_file(path)
    np.testing.assert_array_equal(read_model(path).fit.model.encoder[:, ::1000], u)
