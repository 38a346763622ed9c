"""The fit that Mult-VAE, Mult-DAE and CDAE share, with the defaults of Liang 2018.

`ridge` is the weight decay of that paper, which counts per batch: the mean loss of a batch's users
gets the added term `ridge / batch` times the sum of all squared weights.
"""

import gc
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lindrop.base.digest import digest
from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory
from lindrop.models.base import Fit, Training, Validation
from lindrop.models.memory import MARGIN, Size
from lindrop.models.memory import network as network_memory
from lindrop.models.torch.networks import Autoencoder
from lindrop.models.torch.training import History, Settings, best_epoch, out_of_patience, train

STILL_RISING = 0.9  # a best epoch later than this share of `epochs` suggests to allow more of them
ROOT = Path(__file__).parents[3]  # the folder that holds the package


def fit_network(
    model: str,
    network_class: Callable[..., Autoencoder],
    data: Training,
    latent: int,
    p: float,
    ridge: float,
    options: dict[str, Any],
    training: dict[str, Any],
) -> Fit:
    """Train a new network of the given class; `options` are further arguments of the class.

    `training` has the settings of the training that differ from the defaults.
    """
    if data.validation is None:
        raise UserError(f"{model} needs validation users, who tell when to stop its training")
    settings = Settings(**training, seed=data.seed)
    require(0 <= p < 1 and ridge >= 0, f"p = {p}, λ = {ridge}: p must be in [0, 1), λ at least 0")
    counts = {"latent": latent} | settings._asdict()
    del counts["seed"]
    require(min(counts.values()) > 0, f"{counts}: all must be above 0")
    options |= {"latent": latent, "p": float(p), "decay": ridge / settings.batch}
    size = Size.of(data, data.validation.fold_in.shape[0])
    needed = MARGIN * network_memory(model)(size, [], options | settings._asdict())
    require_memory(needed, "training a deep network")
    code = Path(inspect.getfile(network_class))
    source = {"model": model, "options": options}
    source |= {"data": _digest(data, data.validation), "code": digest([code], ROOT)}
    # independent of the random streams of the epochs, which are spawned from the same seed
    first = np.random.default_rng(data.seed)
    network = network_class(data.items, first, **options)
    trained, history, earlier = train(network, data, data.validation, settings, source)
    del network
    gc.collect()  # what PyTorch imports for its first Adam keeps that training in a cycle
    return Fit(trained, [*history], _at_rest(history, settings, data.criterion), earlier)


def _at_rest(history: History, settings: Settings, criterion: str) -> bool:
    """Whether a training converged: patience ended it, or its best epoch is not among the last."""
    rested = best_epoch(history, criterion) <= STILL_RISING * settings.epochs
    return rested or out_of_patience(history, settings, criterion)


def require(condition: bool, message: str) -> None:
    """Raise a UserError with the message unless the condition holds."""
    if not condition:
        raise UserError(message)


def _digest(data: Training, validation: Validation) -> str:
    """Digest of the training and validation interactions, on which a checkpoint depends."""
    digest = hashlib.sha256()
    for x in (data.x, *validation):
        for array in (x.indptr, x.indices, x.data):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
