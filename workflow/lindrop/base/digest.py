"""Hash of the code of a script and of every library module that it imports, directly or not.

Snakemake notices that a script changed, but not that a module imported by it did. With this hash as
a parameter of a rule, Snakemake also reruns the rule when such a module changes. The hash covers
the code, not its text: comments, docstrings and layout do not change it.
"""

import ast
import atexit
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lindrop.base.atomic import atomic

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Code(NamedTuple):
    """Hash of a file's code, and its imports as `lindrop.module` or `lindrop.module.name`."""

    digest: str
    imports: tuple[str, ...]


_known: dict[str, Code] = {}  # by the hash of the file's text
_used: set[str] = set()


def digest(files: Iterable[Path], root: Path, without: Iterable[Path] = ()) -> str:
    """First 16 hex digits of the hash of the files and of all modules in `root` they import.

    Modules in `without` are left out, and so is every module imported only by one of those.
    """
    found = hashlib.sha256()
    for file in sorted(reachable(files, root, without)):
        found.update(file.relative_to(root).as_posix().encode() + b"\0")
        found.update(_code(file).digest.encode())
    return found.hexdigest()[:16]


def reachable(files: Iterable[Path], root: Path, without: Iterable[Path] = ()) -> set[Path]:
    """The files themselves and all modules in `root` that they import, directly or not."""
    left_out, found = set(without), set[Path]()
    todo = list(files)
    while todo:
        file = todo.pop()
        if file not in found and file not in left_out:
            found.add(file)
            todo += _imported(_code(file).imports, root, file)
    return found


def remember(file: Path) -> None:
    """Cache hashes and imports in `file` across runs: parsing the library takes half a second."""
    file = file.absolute()  # the process may end in another folder
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))[_found_by()]
        _known.update(
            {
                text: Code(str(digest), tuple(map(str, imports)))
                for text, (digest, imports) in stored.items()
            }
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # no usable cache yet
        stored = {}
    atexit.register(_store, file, set(stored))


def _store(file: Path, stored: set[str]) -> None:
    """Write the cache of `remember` at exit, unless it already holds every text used."""
    if _used <= stored:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic(file) as partial:
            content = json.dumps({_found_by(): {text: _known[text] for text in sorted(_used)}})
            partial.write_text(content, encoding="utf-8")
    except OSError:  # the cache only saves time
        return


def _found_by() -> str:
    """Key of the cache: a hash of this module and of the Python version, which decide the AST."""
    return hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).hexdigest()


def _code(file: Path) -> Code:
    """Hash and imports of a Python file."""
    state = file.stat()
    return _code_of(file, state.st_mtime_ns, state.st_size)


@cache
def _code_of(file: Path, mtime_ns: int, size: int) -> Code:
    """Hash and imports of a file in this state, which an earlier run may have found by its text."""
    text = file.read_bytes()
    name = hashlib.sha256(text).hexdigest()
    _used.add(name)
    if name not in _known:
        tree = ast.parse(text, filename=str(file))
        imports = tuple(_imports(tree))
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        _known[name] = Code(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports)
    return _known[name]


def _imports(tree: ast.Module) -> Iterator[str]:
    """Full names of the library's modules and objects that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("lindrop."))
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise ValueError(f"line {node.lineno}: import by the full name, lindrop.…")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lindrop":
            yield from (f"{node.module}.{name.name}" for name in node.names)


@cache
def _imported(names: tuple[str, ...], root: Path, importer: Path) -> list[Path]:
    """Files of the modules that the names refer to or are defined in."""
    return [_module_file(name, root, importer) for name in names]


def _module_file(name: str, root: Path, importer: Path) -> Path:
    """File of the module that `name` refers to or is defined in."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        file = root.joinpath(*parts[:length]).with_suffix(".py")
        if file.is_file():
            return file
    raise ValueError(f"{importer}: import {name!r} from the module that defines it")
