"""What a script depends on, as one hash: itself excepted, every lindrop module it reaches.

Snakemake sees a change of a script but not of what the script imports; this hash, passed as a
parameter, makes it see that too, and only for the rules concerned.
"""

import ast
import functools
import hashlib
from pathlib import Path

PACKAGE = "lindrop"


def imports_digest(script: Path, root: Path) -> str:
    """Hash of the modules of the package in `root` that `script` imports, directly or not."""
    digest = hashlib.sha256()
    for module in sorted(reachable(script, root)):
        digest.update(module.relative_to(root).as_posix().encode() + b"\0")
        digest.update(module.read_bytes())
    return digest.hexdigest()[:16]


def reachable(script: Path, root: Path) -> set[Path]:
    """Files of all package modules that a script imports, followed through their imports."""
    found: set[Path] = set()
    todo = [script]
    while todo:
        new = set(_imported(todo.pop(), root)) - found
        found |= new
        todo += new
    return found


def _imported(file: Path, root: Path) -> list[Path]:
    return _modules(file.read_text(encoding="utf-8"), root, file)


@functools.cache  # most modules are behind many scripts
def _modules(code: str, root: Path, importer: Path) -> list[Path]:
    names: list[str] = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    own = (name for name in names if name.split(".")[0] == PACKAGE)
    return [_module_file(name, root, importer) for name in own]


def _module_file(name: str, root: Path, importer: Path) -> Path:
    """The module that `name` is, or is defined in."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        file = root.joinpath(*parts[:length]).with_suffix(".py")
        if file.is_file():
            return file
    raise ValueError(f"{importer}: import {name!r} from the module that defines it")
