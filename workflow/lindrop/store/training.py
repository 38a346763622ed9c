"""What a fit reads: the training users' interactions, their X'X and its spectrum."""

from dataclasses import replace
from pathlib import Path

from lindrop.models.base import Training, Validation
from lindrop.store.gram import read_gram
from lindrop.store.spectrum import read_spectrum
from lindrop.store.split import read_split_matrix, read_split_sha256


def read_training(
    split: str | Path, gram: str | Path, spectrum: str | Path | None = None, seed: int = 1
) -> Training:
    """X'X is read anew for every fit, which then works in its memory; caches must be of `split`."""
    digest = read_split_sha256(split)
    return Training(
        x=read_split_matrix(split, "train"),
        read_gram=lambda dtype: read_gram(gram, digest, dtype).matrix,
        seed=seed,
        spectrum=None if spectrum is None else read_spectrum(spectrum, digest),
    )


def read_deep_training(split: str | Path, seed: int, checkpoint: Path) -> Training:
    """For models that stop where the validation users say; X'X is counted only if one asks."""
    data = Training.of(read_split_matrix(split, "train"), seed, keep=False)
    parts = (read_split_matrix(split, f"validation/{part}") for part in Validation._fields)
    return replace(data, validation=Validation(*parts), checkpoint=checkpoint)
