"""Sets of images, fetched or found: run for real in a copy of the project."""

import numpy as np
import pytest

from lindrop.store.images import read_images
from support.configurations import SMALL, errors, rules_run
from support.images import IMAGES, write_idx

TARGET = "snakemake --cores 1 results/data/images/mnist.h5"


def test_images_are_downloaded_once_and_read(project, mirror):
    pixels, labels = write_idx(mirror.folder)
    addresses = [f"{mirror.url}/{name}" for name in ("images.gz", "labels.gz")]
    config = SMALL + IMAGES % ("url", addresses[0], "url", addresses[1])
    project.write("config/images.yaml", config)
    output = project.ok(f"{TARGET} --configfile config/images.yaml")
    assert rules_run(output) == ["fetch", "fetch", "read_images"]
    found = read_images(project.path("results/data/images/mnist.h5"))
    np.testing.assert_array_equal(found[0], pixels)
    np.testing.assert_array_equal(found[1], labels)
    assert {part: facts["verified_by"] for part, facts in found[2].items()} == {
        "images": None,
        "labels": None,
    }
    asked = len(mirror.asked)
    assert "Nothing to be done" in project.ok(f"{TARGET} --configfile config/images.yaml")
    assert len(mirror.asked) == asked


def test_a_file_that_is_not_the_published_one_is_refused_and_named(project):
    """Files in `data_dir` must be the published ones; a path of one's own states no facts."""
    folder = project.path("mine/mnist")
    folder.mkdir(parents=True)
    write_idx(folder)
    (folder / "images.gz").rename(folder / "train-images-idx3-ubyte.gz")
    (folder / "labels.gz").rename(folder / "train-labels-idx1-ubyte.gz")
    (line,) = errors(project.fails(f"{TARGET} --config data_dir=mine"))
    assert "train-images-idx3-ubyte.gz" in line
    assert "instead of 9,912,422" in line
    assert not project.path("results/data/images/mnist.h5").exists()
    own = [f"mine/mnist/train-{part}-ubyte.gz" for part in ("images-idx3", "labels-idx1")]
    project.write("config/images.yaml", SMALL + IMAGES % ("path", own[0], "path", own[1]))
    project.ok(f"{TARGET} --configfile config/images.yaml")


def test_published_sets_can_be_planned(project):
    """Only this target asks for them: the default run downloads nothing (test_planned_runs.py)."""
    output = project.ok(f"{TARGET} results/data/images/cifar10.h5 -n")
    assert sorted(rules_run(output)) == ["fetch"] * 3 + ["read_images"] * 2


@pytest.mark.parametrize(
    ("images", "line"),
    [
        ("{mnist: {images: {path: nowhere.gz}}}", "images.mnist.images.path"),
        ("{mnist: {images: {bytes: 5}}}", "images.mnist.images: neither path nor url"),
        ("{fashion: {}}", "images.fashion: unknown key"),
    ],
)
def test_a_mistake_stops_before_any_job(project, images, line):
    project.write("config/images.yaml", f"{SMALL}\nimages: {images}\n")
    (error,) = errors(project.fails(f"{TARGET} --configfile config/images.yaml"))
    assert line in error


def test_real_mnist(project, shared):
    project.ok(f"{TARGET} --config data_dir={shared}")
    pixels, labels, source = read_images(project.path("results/data/images/mnist.h5"), 10)
    assert labels.tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert pixels.shape == (10, 28, 28)
    assert source["images"]["verified_by"] == "sha256"
