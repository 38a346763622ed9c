"""What the machine is, and which of its matrix kernels OpenBLAS is told to use."""

import os
from pathlib import Path

CPU = Path("/proc/cpuinfo")
KERNELS = {"avx2": "Haswell", "avx512f": "SkylakeX"}  # what OpenBLAS calls them


def cpu(field: str) -> str:
    for line in CPU.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return ""


def description(threads: int) -> str:
    return f"{threads} cores of {cpu('model name') or os.uname().machine}"


def kernels() -> list[str]:
    """Those that this processor has; where none of them, OpenBLAS chooses for itself."""
    flags = cpu("flags").split()
    return [name for flag, name in KERNELS.items() if flag in flags] or ["default"]


def environment(kernel: str, threads: int, **more: str) -> dict[str, str]:
    """Of every measured process: the same kernels and threads, nothing else set for OpenBLAS."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS", "PYTHON"))}
    if kernel != "default":
        kept["OPENBLAS_CORETYPE"] = kernel
    for name in ("OMP", "OPENBLAS", "MKL", "LK", "LK_NUM_BACKEND", "RAYON"):
        kept[f"{name}_THREADS" if "NUM" in name else f"{name}_NUM_THREADS"] = str(threads)
    return kept | more
