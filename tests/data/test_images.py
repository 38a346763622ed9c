"""Readers of MNIST and CIFAR-10: the published layouts, and what is said of files that are not."""

import gzip
import os
import pickle
from struct import pack

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.images import read_cifar10, read_mnist
from support.files import cut_short, tar_of
from support.images import batch_pickle, idx

ROWS = 4  # of a batch


def write_mnist(folder, count=50):
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
    digits = rng.integers(0, 10, count, dtype=np.uint8)
    paths = folder / "images.gz", folder / "labels.gz"
    for path, array in zip(paths, (pixels, digits), strict=True):
        path.write_bytes(gzip.compress(idx(array)))
    return paths, pixels, digits


def cifar_batches():
    rng = np.random.default_rng(2)
    return {
        name: (rng.integers(0, 256, (ROWS, 3072), dtype=np.uint8), rng.integers(0, 10, ROWS))
        for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    }


def write_cifar(path, **replaced):
    """Write an archive with its members out of order, as published; None leaves a member out."""
    batches = cifar_batches()
    files = {name: batch_pickle(*batches[name]) for name in sorted(batches, reverse=True)}
    kept = {name: data for name, data in (files | replaced).items() if data is not None}
    inside = {f"cifar-10-batches-py/{name}": data for name, data in kept.items()}
    path.write_bytes(gzip.compress(tar_of(inside)))
    return path


def test_mnist_whole_and_its_first_images(tmp_path):
    paths, pixels, digits = write_mnist(tmp_path)
    for first in (None, 7, 50):
        images, labels = read_mnist(*paths, first)
        assert images.dtype == labels.dtype == np.uint8
        np.testing.assert_array_equal(images, pixels[:first])
        np.testing.assert_array_equal(labels, digits[:first])


def test_the_first_images_need_no_more_of_the_file(tmp_path):
    (images, labels), pixels, _ = write_mnist(tmp_path)
    cut_short(images)
    np.testing.assert_array_equal(read_mnist(images, labels, 5)[0], pixels[:5])
    with pytest.raises(UserError, match="damaged or cut short"):
        read_mnist(images, labels)


def test_cifar_in_the_order_of_its_batches(tmp_path):
    path, batches = write_cifar(tmp_path / "cifar.tar.gz"), cifar_batches()
    training = [batches[f"data_batch_{number}"] for number in range(1, 6)]
    expected = np.concatenate([pixels for pixels, _ in training])
    for first in (None, ROWS + 1):
        images, labels = read_cifar10(path, first)
        assert images.dtype == labels.dtype == np.uint8
        np.testing.assert_array_equal(images, expected.reshape(-1, 3, 32, 32)[:first])
        np.testing.assert_array_equal(labels, np.concatenate([of for _, of in training])[:first])


def zeros(*shape):
    return np.zeros(shape, np.uint8)


IMAGES, LABELS = zeros(3, 28, 28), zeros(3)
DAMAGED_MNIST = {
    "not packed": (idx(IMAGES), None, "images.gz: not packed with gzip"),
    "a web page": (b"<!DOCTYPE html><html>Moved", None, "images.gz: a web page"),
    "labels for images": (gzip.compress(idx(LABELS)), None, "images.gz: not an idx file of images"),
    "images for labels": (None, gzip.compress(idx(IMAGES)), "labels.gz: not an idx file of labels"),
    "floats": (gzip.compress(idx(IMAGES, magic=0xD03)), None, "images.gz: not an idx file"),
    "another size": (gzip.compress(idx(zeros(3, 14, 56))), None, "not an idx file of images of 28"),
    "no header": (gzip.compress(b"\0\0"), None, "images.gz: .*6 bytes are missing"),
    "too few": (gzip.compress(idx(IMAGES, shape=(4, 28, 28))), None, "784 bytes are missing"),
    "too many": (gzip.compress(idx(IMAGES, shape=(2, 28, 28))), None, "more than the 2 that"),
    "unequal": (None, gzip.compress(idx(zeros(4))), "labels.gz: 4 labels for the 3 images of"),
    "no digit": (None, gzip.compress(idx(LABELS + 10)), "labels.gz: label 10, not 0 to 9"),
}


@pytest.mark.parametrize("case", DAMAGED_MNIST)
def test_mnist_that_is_not(case, tmp_path):
    images, labels, message = DAMAGED_MNIST[case]
    paths = tmp_path / "images.gz", tmp_path / "labels.gz"
    paths[0].write_bytes(images or gzip.compress(idx(IMAGES)))
    paths[1].write_bytes(labels or gzip.compress(idx(LABELS)))
    with pytest.raises(UserError, match=message) as raised:
        read_mnist(*paths)
    assert str(tmp_path) in str(raised.value)


PIXELS = zeros(ROWS, 3072)
DAMAGED_CIFAR = {
    "missing": (None, "holds no data_batch_2; is this cifar-10-python"),
    "counts": (batch_pickle(PIXELS, [1, 2]), "data_batch_2: not a batch of CIFAR-10 .*2 labels"),
    "wide": (batch_pickle(zeros(ROWS, 6144), [1] * ROWS), "data_batch_2: .*shape .4, 6144"),
    "width": (batch_pickle(zeros(ROWS, 3000), [1] * ROWS), "data_batch_2: not a batch"),
    "type": (batch_pickle(PIXELS.view("i1"), [1] * ROWS, b"i1"), "data_batch_2: .*int8"),
    "label": (batch_pickle(PIXELS, [1, 2, 3, 10]), "label 10, not 0 to 9"),
    "far label": (batch_pickle(PIXELS, [1, 2, 3, 258]), "label 258, not 0 to 9"),
    "fractions": (
        batch_pickle(PIXELS, [7] * ROWS).replace(b"J" + pack("<i", 7), b"G" + pack(">d", 1.7)),
        "label 1.7, not 0 to 9",
    ),
    "layout": (
        batch_pickle(PIXELS, [1] * ROWS).replace(
            b"".join(b"J" + pack("<i", n) for n in (ROWS, 3072)) + b"\x86",
            b"(" + b"".join(b"J" + pack("<i", n) for n in (ROWS, 32, 32, 3)) + b"t",
        ),
        "data_batch_2: .*shape .4, 32, 32, 3",
    ),
    "cut": (batch_pickle(PIXELS, [1] * ROWS)[:-9], "data_batch_2: not a batch"),
    "no pickle": (b"no pickle", "data_batch_2: not a batch"),
    "another": (pickle.dumps({"data": 1}), "data_batch_2: not a batch"),
}


@pytest.mark.parametrize("case", DAMAGED_CIFAR)
def test_cifar_that_is_not(case, tmp_path):
    batch, message = DAMAGED_CIFAR[case]
    path = write_cifar(tmp_path / "cifar.tar.gz", data_batch_2=batch)
    with pytest.raises(UserError, match=message) as raised:
        read_cifar10(path)
    assert str(tmp_path) in str(raised.value)


def test_a_batch_that_is_there_twice(tmp_path):
    path, batch = tmp_path / "cifar.tar.gz", batch_pickle(PIXELS, [1] * ROWS)
    names = [*(f"a/data_batch_{number}" for number in range(1, 6)), "b/data_batch_2"]
    path.write_bytes(gzip.compress(tar_of(dict.fromkeys(names, batch))))
    with pytest.raises(UserError, match=r"holds data_batch_2 twice; is this cifar-10-python"):
        read_cifar10(path)


def test_an_archive_that_is_cut_or_not_packed(tmp_path):
    path = cut_short(write_cifar(tmp_path / "cifar.tar.gz"), 0.9)
    with pytest.raises(UserError, match=r"cifar\.tar\.gz: the archive is damaged or cut short"):
        read_cifar10(path)
    path.write_bytes(tar_of({"data_batch_1": b""}))
    with pytest.raises(UserError, match=r"cifar\.tar\.gz: not packed with gzip"):
        read_cifar10(path)


class Evil:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


def test_a_pickle_runs_nothing(tmp_path):
    batch, target = pickle.dumps(Evil(tmp_path / "ran"), protocol=2), tmp_path / "ran"
    path = write_cifar(tmp_path / "cifar.tar.gz", data_batch_2=batch)
    with pytest.raises(UserError, match=r"it asks for \w+\.mkdir"):
        read_cifar10(path)
    assert not target.exists()
    pickle.loads(batch)
    assert target.exists(), "as any other reader would have"


def test_more_images_than_there_are(tmp_path):
    paths, _, _ = write_mnist(tmp_path, 3)
    with pytest.raises(UserError, match=r"labels\.gz: 4 images asked for, 3 are there"):
        read_mnist(*paths, 4)
    path = write_cifar(tmp_path / "cifar.tar.gz")
    with pytest.raises(UserError, match=r"cifar\.tar\.gz: 21 images asked for, 20 are there"):
        read_cifar10(path, 21)


def test_the_published_files(shared):
    """The real MNIST; CIFAR-10 in the published form, its pickles written by Python 2."""
    paths = [shared / "mnist" / f"train-{of}-ubyte.gz" for of in ("images-idx3", "labels-idx1")]
    images, labels = read_mnist(*paths)
    assert images.shape == (60_000, 28, 28)
    assert len(labels) == 60_000
    whole = np.frombuffer(gzip.decompress(paths[0].read_bytes()), np.uint8)
    np.testing.assert_array_equal(images.ravel(), whole[16:])
    images, labels = read_cifar10(shared / "cifar10" / "cifar-10-python.tar.gz")
    assert images.shape == (len(labels), 3, 32, 32)
    assert np.ptp(np.bincount(labels)) == 0, "its classes are equally frequent"
