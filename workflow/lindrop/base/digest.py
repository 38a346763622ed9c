"""What a script depends on, as one hash: itself excepted, every lindrop module it reaches.

Snakemake sees a change of a script but not of what the script imports; this hash, passed as a
parameter, makes it see that too, and only for the rules concerned.
"""

import functools
import hashlib
import re
from pathlib import Path

# Python's own parser finds the same (a test compares them), but takes a second for all modules.
IMPORT = re.compile(
    r"^ *(?:import (?P<module>lindrop\.[\w.]+)"
    r"|from (?P<package>lindrop(?:\.\w+)*) import (?:\((?P<block>[^)]*)\)|(?P<line>.*)))",
    re.MULTILINE,
)


def imports_digest(script: Path, root: Path) -> str:
    """Hash of the modules of the package in `root` that `script` imports, directly or not."""
    return _digest(reachable(script, root), root)


def module_digest(module: Path, root: Path) -> str:
    """The same of a module, itself included."""
    return _digest(reachable(module, root) | {module}, root)


def _digest(modules: set[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for module in sorted(modules):
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
    return [_module_file(name, root, importer) for name in imported_names(code)]


def imported_names(code: str) -> list[str]:
    """What a program imports from the package: lindrop.module or lindrop.module.name."""
    names = []
    for found in IMPORT.finditer(code):
        listed = re.sub("#.*", "", found["block"] or found["line"] or "")
        parts = (part.split() for part in listed.split(","))
        names += [f"{found['package']}.{words[0]}" for words in parts if words]
        names += [found["module"]] if found["module"] else []
    return names


def _module_file(name: str, root: Path, importer: Path) -> Path:
    """The module that `name` is, or is defined in."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        file = root.joinpath(*parts[:length]).with_suffix(".py")
        if file.is_file():
            return file
    raise ValueError(f"{importer}: import {name!r} from the module that defines it")
