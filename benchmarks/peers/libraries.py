"""Who is compared, and an environment for each."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = Path(__file__).parent / "environments"
PYTORCH = ROOT / "requirements-deep.in"  # without a hash: it has another build for every machine
PYTORCH_NEEDS = ROOT / "requirements-deep.txt"
PIP = ["-m", "pip", "install", "-qq", "--disable-pip-version-check"]


@dataclass(frozen=True)
class Library:
    """`lock` names its environment's packages; without one it runs in this project's own."""

    title: str
    lock: str | None = None
    pytorch: bool = False


LIBRARIES = {
    "numpy": Library("NumPy, as printed"),
    "lindrop": Library("lindrop"),
    "lenskit": Library("LensKit", "lenskit.lock", pytorch=True),
    "rectools": Library("RecTools", "rectools.lock"),
    "cornac": Library("Cornac", "cornac.lock"),
    "recpack": Library("RecPack", "recpack.lock", pytorch=True),
}
REFERENCE, OURS = "numpy", "lindrop"


def interpreter(name: str, folder: Path) -> str:
    """The Python with this library; its environment is made where it is not there yet."""
    library = LIBRARIES[name]
    if library.lock is None:
        return sys.executable
    python, ready = folder / name / "bin" / "python", folder / name / "ready"
    lock = LOCKS / library.lock
    if not ready.exists() or ready.stat().st_mtime < lock.stat().st_mtime:
        print(f"Setting up {folder / name} (some minutes, once)", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        hashed = [lock, PYTORCH_NEEDS] if library.pytorch else [lock]
        install(python, ["--require-hashes", "--no-deps"], hashed)
        if library.pytorch:
            install(python, [], [PYTORCH])
        ready.touch()
    return str(python)


def install(python: Path, options: list[str], files: list[Path]) -> None:
    listed = [part for file in files for part in ("-r", str(file))]
    subprocess.run([str(python), *PIP, *options, *listed], check=True)
