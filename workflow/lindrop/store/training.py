"""Read what a fit needs: the training users' interactions, their X'X and its spectrum."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lindrop.models.base import Training, Validation
from lindrop.ranking.metrics import CRITERION, DEFAULT
from lindrop.store.gram import read_gram
from lindrop.store.spectrum import read_spectrum
from lindrop.store.split import part_sha256, read_split_matrix


def read_training(
    split: str | Path,
    gram: str | Path | None = None,
    spectrum: str | Path | None = None,
    seed: int = 1,
    metrics: Sequence[str] = DEFAULT,
    part: str = "train",
    light: bool = False,
) -> Training:
    """Training data of a split, with X'X and its spectrum from files made from the same part.

    X'X is read again for every fit, because a solver overwrites it. Without its file, it is
    computed if a model asks for it. `light` is for models that need X alone and may be fitted to
    very much of it: its entries take no memory if all are 1 (`read_split_matrix`).
    """
    digest = part_sha256(split, part)
    x = read_split_matrix(split, part, light)
    if gram is None:
        return replace(Training.of(x, seed, keep=False), metrics=metrics)
    return Training(
        x=x,
        read_gram=lambda dtype: read_gram(gram, digest, dtype, x.shape[1], room=True).matrix,
        read_triangle=lambda dtype: read_gram(gram, digest, dtype, x.shape[1]).triangle,
        seed=seed,
        spectrum=None if spectrum is None else read_spectrum(spectrum, digest, x.shape[1]),
        metrics=metrics,
    )


def read_deep_training(
    split: str | Path,
    seed: int,
    checkpoint: Path,
    metrics: Sequence[str] = DEFAULT,
    criterion: str = CRITERION,
    part: str = "train",
) -> Training:
    """Training data of a split for models with early stopping on its validation users.

    X'X is computed only if a model asks for it. `checkpoint` is where training states are kept,
    `criterion` the one of `metrics` by which training stops.
    """
    data = Training.of(read_split_matrix(split, part), seed, keep=False)
    parts = (read_split_matrix(split, f"validation/{name}") for name in Validation._fields)
    return replace(
        data,
        validation=Validation(*parts),
        checkpoint=checkpoint,
        metrics=metrics,
        criterion=criterion,
    )
