"""Read and write spectrum.h5: the largest eigenpairs of X'X, which several models share.

values     float   eigenvalues, descending
vectors    float   eigenvectors as columns, items × number of values
attribute  split_sha256
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lindrop.base.errors import UserError
from lindrop.store.hdf5 import create_file, open_file

KIND = "spectrum/1"

Spectrum = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def write_spectrum(path: str | Path, spectrum: Spectrum, split_sha256: str) -> None:
    """Write eigenvalues and eigenvectors of the split with this fingerprint."""
    with create_file(path, KIND, {}, spectrum) as file:
        for name, values in zip(("values", "vectors"), spectrum, strict=True):
            file.create_dataset(name, data=values)
        file.attrs["split_sha256"] = split_sha256


def read_spectrum(path: str | Path, split_sha256: str, items: int | None = None) -> Spectrum:
    """Eigenvalues and eigenvectors; UserError if they belong to another split or other `items`."""
    with open_file(path, KIND) as file:
        if file.attrs["split_sha256"] != split_sha256:
            raise UserError(
                f"{path}: made from another split: delete it and run again; {file.maker} makes it "
                "anew"
            )
        values = file.finite("values", (None,))
        file.require((np.diff(values) <= 0).all(), "the eigenvalues are not descending")
        return values, file.finite("vectors", (items, len(values)))
