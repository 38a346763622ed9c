"""EASE, EDLAE and SLIM of lindrop, fitted to the sparse matrix of interactions."""

from functools import partial
from typing import Any

import scipy.sparse as sp
from peers.fits.measure import Peer, as_it_is, measure


def fit(name: str, x: sp.csr_array, **options: float) -> Any:
    from lindrop.models import catalogue
    from lindrop.models.base import Training

    return catalogue.fit(name, Training.of(x, keep=False), **options).model


PEER = Peer(
    title="lindrop",
    lock=None,
    packages=["numpy", "scipy", "numba"],
    prepare=sp.csr_array,
    fits={
        "ease": partial(fit, "ease"),
        "edlae": partial(fit, "full_edlae"),
        "slim": partial(fit, "slim"),
    },
    matrix=lambda model: as_it_is(model.matrix),
)

if __name__ == "__main__":
    measure(PEER)
