"""Fit every model of the catalogue in this process; write its scores and metrics to a file.

    python -m support.fits_of_kernels OUTPUT.npz

Environment variables say which kernels and how many threads OpenBLAS uses: tests compare two runs.
"""

import sys

import numpy as np
from threadpoolctl import threadpool_info

from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate
from support.models import WITHOUT_TORCH, arguments, tasteful

USERS, ITEMS, HELD_OUT = 900, 200, 100


def main(output):
    """Fit the models to the first users, and let them rank for the last ones."""
    x = tasteful(USERS, ITEMS)
    training, later = Training.of(x[:-HELD_OUT]), x[-HELD_OUT:].toarray()
    seen = np.random.default_rng(1).random(later.shape) < 0.5
    fold_in, held_out = (type(x)(later * part) for part in (seen, ~seen))
    kernels = {library.get("architecture", "") for library in threadpool_info()}
    found = {"kernels": sorted(kernels - {""})}
    for name in WITHOUT_TORCH:
        model = fit(name, training, **arguments(name)).model
        found[f"{name}, scores"] = model.scores(fold_in)
        found[f"{name}, metrics"] = evaluate(model, fold_in, held_out).per_user
    np.savez(output, **found)


if __name__ == "__main__":
    main(sys.argv[1])
