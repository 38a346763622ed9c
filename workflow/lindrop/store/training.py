"""Read what a fit needs: the training users' interactions, their X'X and its spectrum."""

from dataclasses import replace
from pathlib import Path

from lindrop.models.base import Training, Validation
from lindrop.store.gram import read_gram
from lindrop.store.spectrum import read_spectrum
from lindrop.store.split import read_split_matrix, read_split_sha256


def read_training(
    split: str | Path, gram: str | Path, spectrum: str | Path | None = None, seed: int = 1
) -> Training:
    """Training data of a split, with X'X and its spectrum from files made from the same split.

    X'X is read again for every fit, because a solver overwrites it.
    """
    digest = read_split_sha256(split)
    x = read_split_matrix(split, "train")
    return Training(
        x=x,
        read_gram=lambda dtype: read_gram(gram, digest, dtype, x.shape[1]).matrix,
        seed=seed,
        spectrum=None if spectrum is None else read_spectrum(spectrum, digest, x.shape[1]),
    )


def read_deep_training(split: str | Path, seed: int, checkpoint: Path) -> Training:
    """Training data of a split for models with early stopping on its validation users.

    X'X is computed only if a model asks for it. `checkpoint` is where training states are kept.
    """
    data = Training.of(read_split_matrix(split, "train"), seed, keep=False)
    parts = (read_split_matrix(split, f"validation/{part}") for part in Validation._fields)
    return replace(data, validation=Validation(*parts), checkpoint=checkpoint)
