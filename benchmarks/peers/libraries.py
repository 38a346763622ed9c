"""The compared libraries, which are the modules in the folder fits, and the environment of each."""

import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from peers.fits.measure import Peer

ROOT = Path(__file__).resolve().parents[2]
LOCKS = Path(__file__).parent / "environments"
PYTORCH = ROOT / "requirements-deep.in"  # without hashes, as machines need different builds
PYTORCH_NEEDS = ROOT / "requirements-deep.txt"
PIP = ["-m", "pip", "install", "-qq", "--disable-pip-version-check"]
REFERENCE, OURS = "numpy", "lindrop"
SPARSE = {"sansa": "sansa.lock"}  # beside models on a pattern; none of the models compared here


def found() -> dict[str, Peer]:
    """Every library by the name of its module: the reference, ours, the others by name."""
    names = {path.stem for path in (Path(__file__).parent / "fits").glob("*.py")} - {"measure"}
    order = sorted(names, key=lambda name: (name != REFERENCE, name != OURS, name))
    return {name: import_module(f"peers.fits.{name}").PEER for name in order}


LIBRARIES = found()


@dataclass(frozen=True)
class Missing:
    """Replaces the interpreter of a library that could not be installed, with the reason."""

    reason: str


def interpreter(name: str, folder: Path) -> str | Missing:
    """Python interpreter with a library; creates its environment if missing or out of date."""
    pytorch = name in LIBRARIES and LIBRARIES[name].pytorch
    lock = LIBRARIES[name].lock if name in LIBRARIES else SPARSE[name]
    if lock is None:
        return sys.executable
    python, ready = folder / name / "bin" / "python", folder / name / "ready"
    hashed = [LOCKS / lock, *([PYTORCH_NEEDS] if pytorch else [])]
    plain = [PYTORCH] if pytorch else []
    if not ready.exists() or ready.stat().st_mtime < newest([*hashed, *plain]):
        print(f"Setting up {folder / name} (some minutes, once)", flush=True)
        try:
            run([sys.executable, "-m", "venv", str(folder / name)])
            run([str(python), *PIP, "--require-hashes", "--no-deps", *listed(hashed)])
            if plain:
                run([str(python), *PIP, *listed(plain)])
        except subprocess.CalledProcessError as error:
            print(error.stderr, file=sys.stderr, flush=True)
            return Missing(f"not installed: {complaint(error.stderr)}")
        ready.touch()
    return str(python)


def newest(files: list[Path]) -> float:
    """Latest time of modification of any file."""
    return max(file.stat().st_mtime for file in files)


def listed(files: list[Path]) -> list[str]:
    """Arguments of pip to install from requirement files."""
    return [part for file in files for part in ("-r", str(file))]


def run(command: list[str]) -> None:
    """Run a command; its error carries what it wrote to stderr."""
    subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)


def complaint(said: str) -> str:
    """Last line of pip's output that reports an error; hints may follow it."""
    lines = said.strip().splitlines() or ["no reason given"]
    return ([line for line in lines if line.lower().startswith("error")] or lines)[-1][:200]
