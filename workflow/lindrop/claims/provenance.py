"""Provenance of the results: versions, machine, and the time and memory of every rule."""

import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lindrop.version import VERSION

PACKAGES = [
    "snakemake",
    *("numpy", "scipy", "pandas", "matplotlib", "h5py", "numba", "pyarrow", "torch"),
]
REPOSITORY = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Cost:
    """Total time of the jobs of one rule, and the largest memory of any of them."""

    rule: str
    jobs: int
    seconds: float
    cpu_seconds: float
    megabytes: float


@dataclass(frozen=True)
class Provenance:
    """When, with which versions, on which machine and at which cost the results were made."""

    made: str
    versions: dict[str, str]
    machine: dict[str, str]
    costs: tuple[Cost, ...]

    @property
    def total(self) -> Cost:
        """Total time of all rules, and the largest memory of any job."""
        return Cost(
            "all rules",
            sum(cost.jobs for cost in self.costs),
            sum(cost.seconds for cost in self.costs),
            sum(cost.cpu_seconds for cost in self.costs),
            max((cost.megabytes for cost in self.costs), default=0.0),
        )


def provenance(benchmarks: Path) -> Provenance:
    """Provenance as of now, with costs from Snakemake's benchmark files in a folder."""
    return Provenance(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", versions(), machine(), costs(benchmarks)
    )


def versions() -> dict[str, str]:
    """Versions of Python, of lindrop (with its commit) and of the installed packages, by name."""
    commit = _commit(REPOSITORY)
    found = {"python": platform.python_version()}
    found["lindrop"] = f"{VERSION}, commit {commit}" if commit else VERSION
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _commit(folder: Path) -> str:
    """Commit of a clone, or of a copy that rules/home.smk made; empty if there is none."""
    if re.fullmatch("[0-9a-f]{40}", folder.name):
        return folder.name[:7]
    if not (folder / ".git").exists():
        return ""
    command = ["git", "-C", str(folder), "describe", "--always", "--exclude=*", "--dirty"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return described.strip().replace("-dirty", ", with changes")


def machine() -> dict[str, str]:
    """CPU, cores, memory, operating system and BLAS of this machine, as texts."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "CPU": _cpu(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "BLAS": _blas(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _blas() -> str:
    """Name and version of the BLAS library of NumPy."""
    built: Any = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{built['name']} {built['version']}"


def costs(folder: Path) -> tuple[Cost, ...]:
    """Cost of every rule, sorted by name, from <folder>/<rule>.tsv and <folder>/<rule>/**/*.tsv."""
    jobs: dict[str, list[pd.DataFrame]] = {}
    for rule, file in _benchmarks(folder):
        numbers = pd.read_csv(file, sep="\t", na_values=["-"])
        jobs.setdefault(rule, []).append(numbers)
    return tuple(_cost(rule, runs) for rule, runs in sorted(jobs.items()))


def _benchmarks(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*.tsv")):
        yield Path(file.relative_to(folder).parts[0]).stem, file


def _cost(rule: str, runs: Sequence[pd.DataFrame]) -> Cost:
    numbers = pd.concat([run[["s", "cpu_time", "max_rss"]].astype(float) for run in runs])
    total, most = numbers.sum(), numbers.max().fillna(0.0)
    return Cost(
        rule, len(runs), float(total["s"]), float(total["cpu_time"]), float(most["max_rss"])
    )
