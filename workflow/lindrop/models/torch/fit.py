"""Fits of Mult-VAE, Mult-DAE and CDAE, with the defaults of Liang 2018.

`ridge` is the weight decay of that paper, which counts per batch: the mean loss of a batch's users
gets the added term `ridge / batch` times the sum of all squared weights.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lindrop.base.digest import digest
from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory
from lindrop.models.base import Fit, Training, Validation
from lindrop.models.torch.memory import training_bytes
from lindrop.models.torch.networks import Autoencoder, Cdae, MultDae, MultVae
from lindrop.models.torch.training import History, Settings, best_epoch, out_of_patience, train

STILL_RISING = 0.9  # a best epoch later than this share of `epochs` suggests to allow more of them
COSTS = ("square", "logistic")
NETWORKS: Mapping[str, Callable[..., Autoencoder]] = {
    "cdae": Cdae,
    "mult_vae": MultVae,
    "mult_dae": MultDae,
}
HERE = Path(__file__)
ROOT = HERE.parents[3]  # the folder that holds the package


def fit_mult_vae(
    data: Training,
    *,
    beta: float = 0.2,
    anneal_steps: int = 200_000,
    latent: int = 200,
    hidden: int = 600,
    p: float = 0.5,
    ridge: float = 0.0,
    **training: Any,
) -> Fit:
    """Fit Mult-VAE^PR of Liang 2018; the default β is that of its code for MovieLens 20M."""
    _require(
        min(beta, anneal_steps, hidden) >= 0,
        f"β = {beta}, {anneal_steps} steps, hidden = {hidden}: none may be below 0",
    )
    options = {"beta": float(beta), "anneal_steps": anneal_steps, "hidden": hidden}
    return _fit("mult_vae", data, latent, p, ridge, options, training)


def fit_mult_dae(
    data: Training,
    *,
    latent: int = 200,
    hidden: int = 0,
    p: float = 0.5,
    ridge: float = 0.01,
    **training: Any,
) -> Fit:
    """Fit Mult-DAE of Liang 2018.

    Its layers are by default items → 200 → items, as in the published code for MovieLens 20M.
    """
    _require(hidden >= 0, f"hidden = {hidden}: may not be below 0")
    options = {"hidden": hidden}
    return _fit("mult_dae", data, latent, p, ridge, options, training)


def fit_cdae(
    data: Training,
    *,
    negatives: float = 5.0,
    cost: str = "square",
    latent: int = 200,
    p: float = 0.5,
    ridge: float = 1.0,
    **training: Any,
) -> Fit:
    """Fit CDAE of Wu 2016, with the weighted square cost and final tanh that Liang 2018 used.

    `cost="logistic"` takes the logistic cost instead. `negatives` is the expected number of sampled
    zeros per interaction.
    """
    _require(negatives > 0, f"{negatives} negatives per entry: must be above 0")
    _require(cost in COSTS, f"cost {cost!r}: must be one of {', '.join(COSTS)}")
    options = {"users": int(data.x.shape[0]), "negatives": negatives, "cost": cost}
    return _fit("cdae", data, latent, p, ridge, options, training)


def _fit(
    model: str,
    data: Training,
    latent: int,
    p: float,
    ridge: float,
    options: dict[str, Any],
    training: dict[str, Any],
) -> Fit:
    if data.validation is None:
        raise UserError(f"{model} needs validation users, who tell when to stop its training")
    settings = Settings(**training, seed=data.seed)
    _require(0 <= p < 1 and ridge >= 0, f"p = {p}, λ = {ridge}: p must be in [0, 1), λ at least 0")
    counts = {"latent": latent} | settings._asdict()
    del counts["seed"]
    _require(min(counts.values()) > 0, f"{counts}: all must be above 0")
    options |= {"latent": latent, "p": float(p), "decay": ridge / settings.batch}
    users, hidden = int(data.x.shape[0]), options.get("hidden", 0)
    needed = training_bytes(model, data.items, users, settings.batch, latent, hidden)
    require_memory(needed, "training a deep network")
    source = {"model": model, "options": options}
    source |= {"data": _digest(data, data.validation), "code": digest([HERE], ROOT)}
    # independent of the random streams of the epochs, which are spawned from the same seed
    first = np.random.default_rng(data.seed)
    network = NETWORKS[model](data.items, first, **options)
    trained, history, earlier = train(
        network, data.x, data.validation, settings, data.checkpoint, source
    )
    return Fit(trained, [*history], _at_rest(history, settings), earlier)


def _at_rest(history: History, settings: Settings) -> bool:
    """Whether a training converged: patience ended it, or its best epoch is not among the last."""
    rested = best_epoch(history) <= STILL_RISING * settings.epochs
    return rested or out_of_patience(history, settings)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UserError(message)


def _digest(data: Training, validation: Validation) -> str:
    """Digest of the training and validation interactions, on which a checkpoint depends."""
    digest = hashlib.sha256()
    for x in (data.x, *validation):
        for array in (x.indptr, x.indices, x.data):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
