"""The nonlinear networks of Pretorius 2018: an AE, a WDAE and DAEs, with tanh or ReLU.

The supplement says that the noise of the DAE has variance 2; in the authors' code 2 is its standard
deviation. Both are trained: "dae" as in the code, "dae_variance" as in the text.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lindrop.base.reporting import Progress
from lindrop.dropout.autoencoders.nonlinear import Activation, Modes
from lindrop.dropout.autoencoders.training import Network, Run, begin, descend
from lindrop.papers.pretorius2018.image_sets import ImageSet
from lindrop.store.training_run import resumed, write_run

SAVED_SECONDS = 120.0
SAVED_EPOCHS = 500


def network(activation: Activation, kind: str, settings: Mapping[str, Any], seed: int) -> Network:
    """A network from plain settings: hidden, rate, epochs, every, noise (DAE), decay (WDAE)."""
    deviations = {"dae": settings["noise"], "dae_variance": settings["noise"] ** 0.5}
    return Network(
        activation=activation,
        hidden=settings["hidden"],
        rate=settings["rate"],
        epochs=settings["epochs"],
        every=settings["every"],
        noise=deviations.get(kind, 0.0),
        decay=settings["decay"] if kind == "wdae" else 0.0,
        seed=seed,
    )


def source_of(images: ImageSet, kind: str, net: Network, code: str) -> dict[str, Any]:
    """Everything that a training depends on, stored with it; `code` is a digest of the program."""
    return {"images": images.source, "kind": kind, "network": net._asdict(), "code": code}


def train(
    images: ImageSet,
    net: Network,
    checkpoint: Path,
    source: Mapping[str, Any],
    progress: Progress | None = None,
) -> Run:
    """Train to the end, starting from the checkpoint if it is of the same source."""
    x = images.x
    modes = Modes.of(x, images.vectors)
    run = resumed(checkpoint, source) or begin(x.shape[1], net)
    progress = progress or Progress("training", net.epochs, unit="epochs")
    progress.resume_at(run.epoch)
    saved = time.monotonic()
    for _ in descend(run, x, modes, net):
        progress.advance(1)
        if run.epoch % SAVED_EPOCHS == 0 or time.monotonic() - saved > SAVED_SECONDS:
            write_run(checkpoint, run, source)
            saved = time.monotonic()
    return run
