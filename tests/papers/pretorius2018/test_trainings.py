"""Trainings on images end the same after a kill, and say so where they diverge."""

import signal
import sys

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress
from lindrop.papers.pretorius2018 import networks
from lindrop.papers.pretorius2018.figures.images_linear import linear_curves
from lindrop.papers.pretorius2018.figures.supp_fig1 import network_curves
from lindrop.papers.pretorius2018.image_sets import write_image_set
from lindrop.papers.pretorius2018.kinds import kinds
from lindrop.papers.pretorius2018.networks import network, source_of, train
from lindrop.store.training_run import read_run, resumed, write_run
from support import processes
from support.image_networks import LINEAR, SMALL, trained
from support.repository import REPOSITORY


def test_the_networks_of_an_activation():
    assert kinds(2.0) == ["ae", "wdae", "dae", "dae_variance"]
    assert kinds(1.0) == ["ae", "wdae", "dae"]
    nets = {kind: network("relu", kind, SMALL | {"noise": 2.0}, 1) for kind in kinds(2.0)}
    assert {kind: (net.noise, net.decay) for kind, net in nets.items()} == {
        "ae": (0, 0),
        "wdae": (0, 0.002),
        "dae": (2, 0),
        "dae_variance": (2**0.5, 0),
    }


KILL = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from lindrop.papers.pretorius2018 import networks
from lindrop.papers.pretorius2018.image_sets import read_image_set
from lindrop.base.reporting import Progress

class Deadly(Progress):
    def advance(self, amount):
        super().advance(amount)
        if self.done == 17:
            os.kill(os.getpid(), signal.SIGKILL)

networks.SAVED_EPOCHS, networks.SAVED_SECONDS = 5, float("inf")
folder = Path(sys.argv[1])
images = read_image_set(folder / "images.h5")
net = networks.network("relu", "dae", {settings}, 2)
source = networks.source_of(images, "dae", net, "code")
networks.train(images, net, folder / "checkpoint.h5", source, Deadly("", 30, unit="epochs"))
"""


def test_a_killed_training_continues_to_the_same_end(images, tmp_path):
    settings = SMALL | {"epochs": 30, "every": 4}
    write_image_set(tmp_path / "images.h5", images)
    code = KILL.replace("{settings}", repr(settings))
    killed = processes.run([sys.executable, "-c", code, tmp_path, REPOSITORY / "workflow"])
    assert killed.returncode == -signal.SIGKILL
    partial, _ = read_run(tmp_path / "checkpoint.h5")
    assert partial.epoch == 15

    (tmp_path / "other").mkdir()
    undisturbed, _ = trained(images, "relu", "dae", tmp_path / "other", **settings)
    net = network("relu", "dae", settings, 2)
    source = source_of(images, "dae", net, "code")
    progress = Progress("", 30, unit="epochs")
    continued = train(images, net, tmp_path / "checkpoint.h5", source, progress)
    assert (progress.offset, progress.done) == (15, 30)
    assert continued.epoch == undisturbed.epoch == 30
    assert continued.measured == undisturbed.measured
    assert [row[0] for row in continued.measured] == [0, 4, 8, 12, 16, 20, 24, 28]
    for one, other in zip(continued.weights, undisturbed.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_checkpoints_come_with_time_too_and_only_fit_their_training(images, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.h5"
    trained(images, "tanh", "ae", tmp_path, epochs=3)
    assert not path.exists()
    monkeypatch.setattr(networks, "SAVED_SECONDS", 0)
    run, source = trained(images, "tanh", "ae", tmp_path, epochs=3)
    found = resumed(path, source)
    assert found.epoch == 3
    np.testing.assert_array_equal(found.weights.w2, run.weights.w2)
    assert resumed(path, source | {"code": "other"}) is None
    again, _ = trained(images, "tanh", "ae", tmp_path, epochs=4)  # another training, from its start
    assert len(again.measured) == 1
    assert read_run(path)[0].epoch == 4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_rate_that_is_too_large_is_said_so(images, tmp_path):
    with pytest.raises(UserError, match=r"diverges.*rate of 400"):
        trained(images, "tanh", "ae", tmp_path, rate=400)
    with pytest.raises(UserError, match=r"diverges.*rate of 0\.2"):
        linear_curves(images, LINEAR | {"rate": 0.2}, 3)


def test_a_run_is_stored_whole(images, tmp_path):
    run, source = trained(images, "tanh", "wdae", tmp_path, epochs=2, every=1)
    write_run(tmp_path / "run.h5", run, source)
    again, found = read_run(tmp_path / "run.h5")
    assert found == source
    assert (again.epoch, again.measured) == (2, run.measured)
    table = network_curves([(again, found)])
    assert table["epoch"].tolist() == [0, 1] * 4
