"""Code as a hash: of a script, and of every module of the library that it reaches.

Snakemake sees that a script changed, but not that what it imports did. This hash, passed as a
parameter, makes it see that as well, and only for the rules concerned. It is that of the code, not
of its text: comments, docstrings and layout change nothing.
"""

import ast
import atexit
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lindrop.base.atomic import atomic

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Code(NamedTuple):
    """A file's hash, and what it imports: lindrop.module or lindrop.module.name."""

    digest: str
    imports: Sequence[str]


_known: dict[str, Code] = {}  # by the hash of the text
_used: set[str] = set()


def digest(files: Iterable[Path], root: Path, without: Iterable[Path] = ()) -> str:
    """Hash of the files and of all modules in `root` that they reach, but for some.

    What can be reached only through a module that is left out does not count either.
    """
    found = hashlib.sha256()
    for file in sorted(reachable(files, root, without)):
        found.update(file.relative_to(root).as_posix().encode() + b"\0")
        found.update(_code(file).digest.encode())
    return found.hexdigest()[:16]


def reachable(files: Iterable[Path], root: Path, without: Iterable[Path] = ()) -> set[Path]:
    """The files, and the modules that they import, followed through their imports."""
    left_out, found = set(without), set[Path]()
    todo = list(files)
    while todo:
        file = todo.pop()
        if file not in found and file not in left_out:
            found.add(file)
            todo += [_module_file(name, root, file) for name in _code(file).imports]
    return found


def remember(file: Path) -> None:
    """Keep what is known of texts in a file: to parse the whole library takes half a second."""
    file = file.absolute()  # the process may end in another folder
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))[_found_by()]
        _known.update(
            {
                text: Code(str(digest), list(map(str, imports)))
                for text, (digest, imports) in stored.items()
            }
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none yet, or of no use
        stored = {}
    atexit.register(_store, file, set(stored))


def _store(file: Path, stored: set[str]) -> None:
    if _used <= stored:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic(file) as partial:
            content = json.dumps({_found_by(): {text: _known[text] for text in sorted(_used)}})
            partial.write_text(content, encoding="utf-8")
    except OSError:  # it saves time, no more
        return


def _found_by() -> str:
    """What else decides how a text is read: this module, and the version of Python."""
    return hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).hexdigest()


def _code(file: Path) -> Code:
    text = file.read_bytes()
    name = hashlib.sha256(text).hexdigest()
    _used.add(name)
    if name not in _known:
        tree = ast.parse(text, filename=str(file))
        imports = list(_imports(tree))
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        _known[name] = Code(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports)
    return _known[name]


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("lindrop."))
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise ValueError(f"line {node.lineno}: import by the full name, lindrop.…")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lindrop":
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _module_file(name: str, root: Path, importer: Path) -> Path:
    """The module that `name` is, or is defined in."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        file = root.joinpath(*parts[:length]).with_suffix(".py")
        if file.is_file():
            return file
    raise ValueError(f"{importer}: import {name!r} from the module that defines it")
