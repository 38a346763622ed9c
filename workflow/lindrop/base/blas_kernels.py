"""Which kernels OpenBLAS uses, and the largest matrix that they may be given to factorise.

OpenBLAS chooses its kernels by the processor when it is loaded, unless OPENBLAS_CORETYPE is set.
"""

import os
from pathlib import Path

VARIABLE = "OPENBLAS_CORETYPE"
AVX512 = {"SkylakeX", "Cooperlake", "SapphireRapids"}  # OpenBLAS's names of those that use it
# These kernels have crashed in syrk and potrf from about 28,000 rows on. NumPy computes Z'Z
# by syrk and SciPy factorises by potrf, so neither is given a matrix with more rows than this.
LARGEST_FACTORED = 16_000


def has_avx512(cpu: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the first processor has AVX-512; False where the system has no such file."""
    try:
        with cpu.open(encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return False
    return "avx512f" in flags.split()


def in_use() -> str:
    """Line on the kernels that this process has loaded, and on faster ones that were prevented."""
    from threadpoolctl import threadpool_info  # imported here, as many jobs need no OpenBLAS

    loaded = {str(library.get("architecture", "")) for library in threadpool_info()} - {""}
    line = f"OpenBLAS uses the kernels {', '.join(sorted(loaded)) or 'of another library'}"
    if loaded and not loaded & AVX512 and has_avx512():
        line += "; those for AVX-512, which this processor has, take about half the time"
        line += f" (unset {VARIABLE})" if VARIABLE in os.environ else ""
    return line
