"""A fit of SANSA or of irspack's EDLAE in this process, for sparse_peers.py.

    python fit_sparse.py --fit FOLDER ARGUMENTS

Reads train.npz in the folder, writes the model there and prints one line of JSON. Needs only the
packages of the environment of the library.
"""

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from fits.measure import forget_peak, memory_gb


def sansa(x: sp.csr_matrix, options: dict[str, Any]) -> list[Any]:
    """The two matrices of SANSA, with its own defaults but for density and λ."""
    from sansa import (
        SANSA,
        CHOLMODGramianFactorizerConfig,
        ICFGramianFactorizerConfig,
        SANSAConfig,
        UMRUnitLowerTriangleInverterConfig,
    )

    exact = options["way"] == "CHOLMOD"
    factors = CHOLMODGramianFactorizerConfig() if exact else ICFGramianFactorizerConfig()
    config = SANSAConfig(
        l2=options["ridge"],
        weight_matrix_density=options["density"],
        gramian_factorizer_config=factors,
        lower_triangle_inverter_config=UMRUnitLowerTriangleInverterConfig(),
    )
    return list(SANSA(config).fit(x).weights)


def irspack(x: sp.csr_matrix, options: dict[str, Any]) -> list[Any]:
    """B of irspack's EDLAE."""
    from irspack.recommenders import EDLAERecommender

    model = EDLAERecommender(x, reg=options["ridge"], dropout_p=options["p"]).learn()
    return [np.asarray(model.W, np.float32)]


def main(folder: Path, name: str, options: dict[str, Any]) -> None:
    logging.disable(logging.INFO)
    fit = {"sansa": sansa, "irspack": irspack}[name]
    rng = np.random.default_rng(0)
    fit(sp.csr_matrix(rng.random((300, 100)) < 0.3, dtype=np.float32), options | {"density": 0.2})
    x = sp.csr_matrix(sp.load_npz(folder / "train.npz"))
    forget_peak()
    start, used = time.perf_counter(), time.process_time()
    parts = fit(x, options)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    peak = memory_gb("VmHWM")
    if sp.issparse(parts[0]):
        for number, part in enumerate(parts, 1):
            sp.save_npz(folder / f"model-{number}.npz", part, compressed=False)
    else:
        np.save(folder / "model.npy", parts[0])
    size = sum(8 * part.nnz if sp.issparse(part) else 4 * part.size for part in parts)
    found = {"seconds": seconds, "processor seconds": used, "peak GB": peak}
    print(json.dumps({"bytes": size} | {key: round(found[key], 2) for key in found}))


if __name__ == "__main__":
    main(Path(sys.argv[2]), *json.loads(sys.argv[3]))
