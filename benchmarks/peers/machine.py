"""Description of the machine, and the choice of OpenBLAS's matrix kernels."""

import os
from pathlib import Path

CPU = Path("/proc/cpuinfo")
KERNELS = {"avx2": "Haswell", "avx512f": "SkylakeX"}  # OpenBLAS's names by processor flag


def cpu(field: str) -> str:
    """Field of /proc/cpuinfo for the first processor; empty if there is none."""
    for line in CPU.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return ""


def description(threads: int) -> str:
    """Number of cores used and name of the processor."""
    return f"{threads} cores of {cpu('model name') or os.uname().machine}"


def kernels() -> list[str]:
    """Kernels that this processor supports; `default`, OpenBLAS's own choice, if none is known."""
    flags = cpu("flags").split()
    return [name for flag, name in KERNELS.items() if flag in flags] or ["default"]


def environment(kernel: str, threads: int, **more: str) -> dict[str, str]:
    """Environment of a measured process, with the given kernels and threads for all libraries."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS", "PYTHON"))}
    if kernel != "default":
        kept["OPENBLAS_CORETYPE"] = kernel
    for name in ("OMP", "OPENBLAS", "MKL", "LK", "LK_NUM_BACKEND", "RAYON"):
        kept[f"{name}_THREADS" if "NUM" in name else f"{name}_NUM_THREADS"] = str(threads)
    return kept | more
