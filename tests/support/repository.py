"""The repository under test, and copies of it."""

import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BIN = REPOSITORY / ".venv" / "bin"


def copy_project(target):
    """What a clone would hold, uncommitted changes included, with the compiled code of workflow/.

    Files keep their times, by which Python and Numba see that what they compiled is still right.
    What the lint noted of the imports in each text of the code is there as well.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, target / name)
    for compiled in (REPOSITORY / "workflow").rglob("__pycache__/*"):
        # others have names of files that a test beside this one is writing
        if compiled.suffix in {".pyc", ".nbi", ".nbc"}:
            folder = target / compiled.parent.relative_to(REPOSITORY)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(compiled, folder)
    if (noted := REPOSITORY / ".snakemake/lindrop/code.json").exists():
        (target / ".snakemake/lindrop").mkdir(parents=True)
        shutil.copy2(noted, target / ".snakemake/lindrop")
    return target
