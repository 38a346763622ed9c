"""A stored file that was changed by a bit is refused in one line, never read as something else."""

import faulthandler
import os
import re
import time

import h5py
import numpy as np
import pandas as pd
import pytest

from lindrop.base.errors import Damaged, UserError
from lindrop.base.stopwatch import Cost
from lindrop.models import tuning
from lindrop.models.base import Fit
from lindrop.ranking.metrics import DEFAULT as METRICS
from lindrop.store import seal
from lindrop.store.checksum import LANES, ROW_BYTES, new_lanes, result, take
from lindrop.store.hdf5 import MAKERS, seal_file
from lindrop.store.metrics import read_metrics_of, write_metrics
from lindrop.store.model import read_model
from lindrop.store.split import read_split, read_split_matrix
from lindrop.store.trials import read_trials, write_trials
from support.repository import REPOSITORY
from support.stored import HDF5, ITEMS, TEXT, Stored

TRIES = 150  # of each sort of damage
LIMIT = 300  # seconds until a test that hangs, perhaps in HDF5, ends its process
NAMED = re.compile("(delete it and run again|give the right file).*; the rule [a-z]")


@pytest.fixture(autouse=True)
def _no_hang():
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def damages(whole, rng):
    """What becomes of a file's bytes by a flipped bit, zeros, a lost end, and bytes moved."""
    for _ in range(TRIES):
        place = int(rng.integers(len(whole)))
        length = int(rng.integers(1, 200))
        bit = 1 << int(rng.integers(8))
        yield whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
        yield whole[:place] + bytes([int(rng.integers(256))]) + whole[place + 1 :]
        yield whole[:place] + bytes(len(whole[place : place + length])) + whole[place + length :]
        yield whole[:place]
        yield whole[:place] + whole[place + length :]
        yield whole[:place] + whole[place : place + length] + whole[place:]
    yield whole + b"\0"
    yield whole + whole
    yield bytes(len(whole))


def refused(stored, path):
    """The message by which reading a file is refused."""
    with pytest.raises(UserError) as caught:
        stored.read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    assert NAMED.search(message), message
    return message


@pytest.mark.parametrize("large", [False, True], ids=["small", "large arrays"])
@pytest.mark.parametrize("stored", HDF5, ids=lambda stored: stored.name)
def test_an_hdf5_file_with_any_damage_is_refused(stored, large, tmp_path, monkeypatch):
    if large:
        monkeypatch.setattr("lindrop.store.hdf5.LARGE_BYTES", 1)
    path = tmp_path / "stored.h5"
    stored.write(path)
    stored.read(path)
    whole = path.read_bytes()
    for damaged in damages(whole, np.random.default_rng(8)):
        if damaged != whole:
            path.write_bytes(damaged)
            refused(stored, path)


@pytest.mark.parametrize("stored", TEXT, ids=lambda stored: stored.name)
def test_a_text_file_with_any_damage_is_refused_or_reads_the_same(stored, tmp_path):
    path = tmp_path / "paper" / "stored"
    stored.write(path)
    before, whole = stored.read(path), path.read_bytes()
    same = 0
    for damaged in damages(whole, np.random.default_rng(9)):
        path.write_bytes(damaged)
        try:
            again = stored.read(path)
        except UserError:
            refused(stored, path)
        else:  # a verdict, which is computed again, or spaces that JSON ignores
            assert again.equals(before) if hasattr(before, "equals") else again == before
            same += damaged != whole
    assert stored.name in ("checks", "receipt") or same == 0


def test_every_byte_of_a_file_counts(tmp_path):
    path = tmp_path / "stored.h5"
    HDF5[0].write(path)
    with path.open("rb+", buffering=0) as file:
        for place, byte in enumerate(path.read_bytes()):
            os.pwrite(file.fileno(), bytes([byte ^ 1 << place % 8]), place)
            with pytest.raises(UserError):
                HDF5[0].read(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
    HDF5[0].read(path)


def checksum(data):
    lanes = new_lanes()
    take(data, lanes)
    return result(lanes, len(data))


def test_the_checksum_sees_every_bit_and_every_length():
    rng = np.random.default_rng(10)
    for size in (0, 1, 100, ROW_BYTES - 1, ROW_BYTES, ROW_BYTES + 7):
        data = rng.integers(0, 256, size, np.uint8)
        seen = {checksum(data)}
        for bit in range(8 * size):
            data[bit // 8] ^= 1 << bit % 8
            seen.add(checksum(data))
            data[bit // 8] ^= 1 << bit % 8
        longer = np.concatenate([data, np.zeros(1, np.uint8)])
        assert len(seen | {checksum(longer)}) == 8 * size + 2
    signs = np.zeros(4 * ROW_BYTES, np.uint8)
    found = checksum(signs)
    signs[[3, 3 + 4 * LANES]] ^= 128  # the signs of two numbers in the same lane
    assert checksum(signs) != found


def test_the_checksum_of_a_large_array_is_the_same_in_any_number_of_threads(tmp_path, monkeypatch):
    path = tmp_path / "bytes"
    path.write_bytes(np.random.default_rng(11).bytes(1_000_003))
    monkeypatch.setattr(seal, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(seal, "SPAN_BYTES", 1 << 16)
    found = set()
    for threads in ("1", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        with path.open("rb") as file:
            found.add(seal._checksum_of(file.fileno(), 7, 999_000))
    assert len(found) == 1


def test_a_file_checked_once_is_checked_again_after_a_change(tmp_path, monkeypatch):
    """A process that reads several parts of a file compares its checksum once."""
    path = tmp_path / "stored.h5"
    split = next(stored for stored in HDF5 if stored.name == "split")
    split.write(path)
    passes = []
    crc_of_rest = seal._crc_of_rest
    monkeypatch.setattr(seal, "_crc_of_rest", lambda *of: passes.append(of) or crc_of_rest(*of))
    monkeypatch.setattr(seal, "SETTLED_NS", 0)
    time.sleep(0.05)
    split.read(path)
    split.read(path)
    assert len(passes) == 1
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    refused(split, path)


def test_a_file_of_an_older_version_says_so(tmp_path):
    path = tmp_path / "stored.h5"
    with h5py.File(path, "w") as file:
        file.attrs["lindrop_file"] = "split/1"
    message = refused(Stored("", None, read_split), path)
    assert "made by an older version of lindrop" in message


def test_the_rules_that_messages_name_are_in_the_workflow():
    rules = (REPOSITORY / "workflow" / "rules").glob("*.smk")
    text = "".join(file.read_text(encoding="utf-8") for file in rules)
    for maker in MAKERS.values():
        for name in re.findall("[a-z_0-9]+_[a-z_0-9]+|[a-z]+$", maker.removeprefix("the rule ")):
            assert f"rule {name}:" in text, name


def changed(path, name, change):
    """Change an array of a file in place; the checksums then agree with what it holds."""
    with h5py.File(path, "r+") as file:
        values = file[name][()]
        attributes = dict(file[name].attrs)
        found = change(values)
        del file[name]
        file[name] = values if found is None else found
        file[name].attrs.update(attributes)
    seal_file(path)


def put(place, value):
    def change(values):
        values[place] = value

    return change


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("sparse", "indices", put(3, len(ITEMS))),
        ("sparse", "indices", put(3, 10**8)),
        ("sparse", "indices", put(3, -1)),
        ("sparse", "indices", lambda values: values[::-1].copy()),
        ("sparse", "indices", lambda values: values.astype(np.float32)),
        ("sparse", "indptr", put(5, 10**8)),
        ("sparse", "indptr", put(0, 1)),
        ("sparse", "indptr", put(-1, 30)),
        ("sparse", "indptr", put(4, 0)),
        ("sparse", "indptr", lambda values: values[:-1]),
        ("sparse", "data", put(3, np.nan)),
        ("sparse", "data", lambda values: values[:-1]),
        ("sparse", "items", put(0, b"item 1")),
        ("full rank", "triangle", put(15, np.inf)),
        ("full rank", "triangle", lambda values: values[:-1]),
        ("full rank", "scale", lambda values: values[:-1]),
        ("full rank", "diagonal", put(3, np.nan)),
        ("any matrix", "matrix", put((2, 3), np.inf)),
        ("any matrix", "matrix", lambda values: values[:-1]),
        ("low rank", "decoder", lambda values: values[:, :-1]),
        ("low rank", "encoder", lambda values: values.tolist()[0]),
        ("factors", "alpha", lambda values: np.nan),
        ("factors", "ridge", lambda values: -1.0),
        ("factors", "item_factors", lambda values: values[1:]),
        ("popularity", "counts", put(2, np.nan)),
        ("perceptron", "weights_2", lambda values: values[:, 1:]),
        ("perceptron", "bias_1", lambda values: values[1:]),
        ("perceptron", "tanh", lambda values: np.array([True] * 3)),
        ("sparse", "history", lambda values: values[:, 1:]),
    ],
)
def test_arrays_of_a_model_that_do_not_fit_are_refused(kind, name, change, tmp_path):
    """Compiled loops do not check bounds, and a model may come from somebody else."""
    path = tmp_path / "model.h5"
    next(stored for stored in HDF5 if stored.name == f"model: {kind}").write(path)
    changed(path, name, change)
    with pytest.raises(Damaged, match="delete it and run again; the rule fit"):
        read_model(path)


@pytest.mark.parametrize("kind", ["low rank", "sparse", "full rank", "popularity"])
def test_a_model_with_a_part_more_is_not_read_without_it(kind, tmp_path):
    """Otherwise an older version would read a hybrid model as its low rank alone."""
    path = tmp_path / "model.h5"
    next(stored for stored in HDF5 if stored.name == f"model: {kind}").write(path)
    with h5py.File(path, "r+") as file:
        file["bias"] = np.ones(len(ITEMS))
    seal_file(path)
    with pytest.raises(UserError, match=r"model\.h5: holds bias, which this .* read it with"):
        read_model(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("train/indices", put(3, 10**8)),
        ("train/indices", put(3, -1)),
        ("train/indptr", put(1, 10**8)),
        ("train/indptr", put(-1, 10**8)),
        ("train/indptr", lambda values: values[:-1]),
        ("test/fold_in/indices", put(0, 10**6)),
        ("test/fold_in/indptr", put(0, 1)),
        ("train/data", put(0, 7)),
        ("train/data", lambda values: values[1:]),
    ],
)
def test_arrays_of_a_split_that_do_not_fit_are_refused(name, change, tmp_path):
    path = tmp_path / "split.h5"
    next(stored for stored in HDF5 if stored.name == "split").write(path)
    changed(path, name, change)
    with pytest.raises(Damaged, match="the rule split makes it anew"):
        read_split_matrix(path, name.rpartition("/")[0])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("train/position", put(0, 10**6)),
        ("train/position", put(0, -1)),
        ("train/position", lambda values: np.zeros_like(values)),
        ("train/position", lambda values: values[::-1].copy()),  # other events
        ("items", lambda values: values[::-1].copy()),
        ("users", lambda values: values[:-1]),
    ],
)
def test_events_that_are_not_those_of_the_fingerprint_are_refused(name, change, tmp_path):
    path = tmp_path / "split.h5"
    next(stored for stored in HDF5 if stored.name == "split").write(path)
    changed(path, name, change)
    with pytest.raises(Damaged, match="the rule split makes it anew"):
        read_split(path)


@pytest.mark.parametrize(("model", "sha256"), [("ease", "a" * 64), ("edlae", "b" * 64)])
def test_the_tuning_of_another_model_or_split_is_refused(model, sha256, tmp_path):
    trials = pd.DataFrame([{"rank": 5, "lambda": 3.0, **dict.fromkeys(METRICS, 0.5)}])
    options, path = {"lambda": [3.0]}, tmp_path / "0.csv"
    write_trials(path, trials, "edlae", "a" * 64)
    assert len(read_trials([path], options, METRICS, "edlae", "a" * 64)) == 1
    with pytest.raises(Damaged, match="its checksum differs"):
        read_trials([path], options, METRICS, model, sha256)


@pytest.mark.parametrize("place", ["other/edlae.h5", "demo/ease.h5"])
def test_the_metrics_of_another_model_or_dataset_are_refused(place, tmp_path):
    per_user = pd.DataFrame(np.full((4, len(METRICS)), 0.5), columns=METRICS)
    results = {5: (tuning.Tested(5, {}, "", True, per_user, Cost(1, 2)), Fit(None))}
    right, wrong = tmp_path / "demo" / "edlae.h5", tmp_path / place
    write_metrics(right, "demo", "edlae", results)
    assert list(read_metrics_of(right)) == [5]
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_bytes(right.read_bytes())
    with pytest.raises(UserError, match="holds the metrics of edlae on the dataset demo: delete"):
        read_metrics_of(wrong)
