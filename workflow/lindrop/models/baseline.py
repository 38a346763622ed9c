"""Memory of a job's process before it has any data: Python, the libraries, and their buffers.

    python -m lindrop.models.baseline [module ...]

prints the resident bytes of a process that has imported what the jobs import and the given modules,
and has called compiled loops and matrix products, as every fit does.
"""

import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from lindrop.base.stopwatch import peak_bytes

KNOWN = "LINDROP_BASELINE"  # jobs take the number from the environment of the process that measured
JOB = (
    "lindrop.models.closed_form",
    "lindrop.models.edlae.fit",
    "lindrop.models.full_rank",
    "lindrop.models.pattern.fit",
    "lindrop.models.pattern.hybrid",
    "lindrop.models.sampled",
    "lindrop.models.slim",
    "lindrop.models.tuning",
    "lindrop.models.wmf",
    "lindrop.store.metrics",
    "lindrop.store.model",
    "lindrop.store.training",
    "implicit.cpu.als",
)
DEEP = ("torch", "torch.optim.adam", "torch._dynamo")  # Adam imports the last when it is first used


_begun: dict[str, subprocess.Popen[str]] = {}


def begin_to_measure(*modules: str) -> None:
    """Start the process that measures, which takes seconds; `baseline_bytes` waits for its end."""
    variable, here = _asked(modules)
    if variable not in os.environ and variable not in _begun:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-m", "lindrop.models.baseline", *here]
        _begun[variable] = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@cache
def baseline_bytes(*modules: str) -> float:
    """Bytes of a job's process that has imported `modules` too, measured in a process of its own.

    Modules that are not installed here are left out: the job runs in another environment.
    """
    begin_to_measure(*modules)
    variable, _ = _asked(modules)
    if process := _begun.pop(variable, None):
        said, error = process.communicate()
        if process.returncode:
            raise RuntimeError(error)
        os.environ[variable] = said.split()[-1]
    return float(os.environ[variable])


def _asked(modules: tuple[str, ...]) -> tuple[str, list[str]]:
    """Variable of the environment for these modules, and those of them that are installed here."""
    here = [name for name in modules if find_spec(name.partition(".")[0])]
    return "_".join([KNOWN, *here]).replace(".", "_"), here


def _measured(modules: list[str]) -> float:
    """Peak bytes of this process after it has imported the modules and run a small fit."""
    # by name: an import statement would make the code of every job depend on these modules
    loaded = {name: import_module(name) for name in (*JOB, *modules)}
    import numpy as np
    import scipy.sparse as sp
    from scipy.linalg import blas

    from lindrop.models.base import Training
    from lindrop.ranking.evaluation import evaluate

    rng = np.random.default_rng(0)
    x = sp.csr_array(rng.random((300, 200)) < 0.2, dtype=np.float32)
    fit_edlae = loaded["lindrop.models.edlae.fit"].fit_edlae
    ((_, fit),) = fit_edlae(Training.of(x), [10], p=0.3, ridge=100.0, iterations=1)
    evaluate(fit.model, x[:20], x[20:40])
    a = np.ones((512, 512), np.float32)
    blas.sgemm(1.0, a @ a, a)
    if "torch" in modules:
        _train_once()
    return peak_bytes()


def _train_once() -> None:
    """One step of Adam on a small layer, which starts the threads and buffers of PyTorch."""
    import torch

    weights = torch.nn.Parameter(torch.ones(512, 512))
    optimiser = torch.optim.Adam([weights])
    torch.autograd.backward(torch.logsumexp((weights @ weights).tanh(), 1).sum())
    optimiser.step()


if __name__ == "__main__":
    print(int(_measured(sys.argv[1:])))
