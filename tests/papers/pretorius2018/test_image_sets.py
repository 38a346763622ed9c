"""The images of Pretorius 2018: generated ones, stored ones, and which count as the authors'."""

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.synthetic.images import amplitudes, natural_images
from lindrop.papers.pretorius2018 import image_sets
from lindrop.papers.pretorius2018.image_sets import (
    published_set,
    read_image_set,
    synthetic_set,
    title,
    write_image_set,
)
from lindrop.papers.pretorius2018.published import data_of
from lindrop.store.images import read_images, write_images


def test_synthetic_images_are_bytes_with_the_spectrum_of_natural_ones():
    found = natural_images(400, 16, np.random.default_rng(1))
    assert found.dtype == np.uint8
    assert found.shape == (400, 16, 16)
    x = found / 255
    assert x.mean() == pytest.approx(0.5, abs=0.02)
    assert x.std() == pytest.approx(0.24, abs=0.02)
    assert np.mean((found == 0) | (found == 255)) < 0.06
    np.testing.assert_array_equal(found, natural_images(400, 16, np.random.default_rng(1)))
    x = x - x.mean()
    rows, columns = np.mean(x[:, 4:] * x[:, :-4]), np.mean(x[:, :, 4:] * x[:, :, :-4])
    assert 0.5 * x.var() > columns > 1.1 * rows > 0.2 * x.var()


def test_amplitudes_fall_as_one_over_frequency():
    found = amplitudes(32)
    assert found[0, 0] == 0
    assert found[1, 0] / found[8, 0] == pytest.approx(8)
    assert found[0, 1] / found[0, 8] == pytest.approx(8)
    assert found[6, 0] == pytest.approx(found[0, 4])


def test_a_set_is_stored_with_its_spectrum(images, tmp_path, monkeypatch):
    x = images.x
    assert x.dtype == np.float32
    np.testing.assert_array_equal(np.rint(255 * x), images.pixels)
    np.testing.assert_allclose(images.values, np.linalg.eigvalsh(x.T @ x)[::-1], rtol=1e-3)
    leading = images.vectors.T @ (x.T @ x) @ images.vectors
    np.testing.assert_allclose(leading, np.diag(images.values[:4]), atol=1e-3 * images.values[3])
    monkeypatch.setattr(image_sets, "ROWS", 7)
    np.testing.assert_allclose(image_sets.second_moment(images.pixels), x.T @ x, rtol=1e-5)
    write_image_set(tmp_path / "images.h5", images)
    again = read_image_set(tmp_path / "images.h5")
    for one, other in zip(images, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_set_has_a_published_name_only_if_its_file_proves_it(monkeypatch):
    pixels = np.random.default_rng(1).integers(0, 256, (6, 28, 28)).astype(np.uint8)
    files = {"images": {"sha256": "a1"}, "labels": {"sha256": "b2"}}
    found = published_set("mnist", pixels, files, 5)
    np.testing.assert_array_equal(found.pixels, pixels[:5].reshape(5, -1))
    assert title(found.source) == "mnist (unverified), N = 5"
    assert found.source["sha256"] == "a1"
    monkeypatch.setitem(image_sets.PUBLISHED, "a1", "MNIST")
    assert title(published_set("x", pixels, files, 5).source) == "MNIST, N = 5"
    assert title(synthetic_set(5, 8, 1).source) == "synthetic images, N = 5"


def test_fewer_images_than_asked_for_are_refused(tmp_path):
    """Reading the images fails, so that no experiment runs on fewer."""
    pixels, labels = np.zeros((6, 28, 28), np.uint8), np.zeros(6, np.uint8)
    write_images(tmp_path / "mnist.h5", pixels, labels, {})
    assert len(read_images(tmp_path / "mnist.h5", 6)[0]) == 6
    with pytest.raises(UserError, match="mnist: 7 images asked for, 6 are there; lower count"):
        read_images(tmp_path / "mnist.h5", 7)


def test_only_the_authors_images_in_their_number_count_as_published():
    theirs = {"layout": "mnist", "published": "MNIST", "count": 50_000}
    assert data_of(theirs) == "published"
    assert data_of(theirs | {"count": 49_999}) == "other"
    assert data_of(theirs | {"published": "CIFAR-10"}) == "other"
    assert data_of(theirs | {"published": None}) == "other"
    assert data_of(theirs | {"layout": "synthetic", "published": None}) == "synthetic"
