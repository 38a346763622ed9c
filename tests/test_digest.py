"""A rule reruns when a module behind its script changes, and only then."""

import ast

import pytest
from conftest import ROOT

from lindrop.base.digest import imported_names, imports_digest, module_digest, reachable

WORKFLOW = ROOT / "workflow"


def names(script):
    files = reachable(WORKFLOW / "scripts" / script, WORKFLOW)
    return {str(file.relative_to(WORKFLOW / "lindrop")) for file in files}


def test_imports_are_followed_through_modules():
    assert names("verify_source.py") == {
        "data/archives.py",
        "data/fetch.py",
        "base/errors.py",
        "base/reporting.py",
        "base/atomic.py",
        "store/receipt.py",
    }
    assert "data/netflix.py" in names("read_interactions.py")
    assert "data/netflix.py" not in names("split.py")


def names_by_python(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_are_those_that_python_finds():
    files = [*(WORKFLOW / "lindrop").rglob("*.py"), *(WORKFLOW / "scripts").glob("*.py")]
    assert len(files) > 200
    for file in files:
        code = file.read_text()
        own = [name for name in names_by_python(code) if name.split(".")[0] == "lindrop"]
        assert sorted(imported_names(code)) == sorted(own), file


def test_imports_of_every_form_are_found():
    code = (
        "import lindrop.a as b\nfrom lindrop.c import d as e, f  # g\n"
        "def late():\n    from lindrop.h import (\n        i,  # j\n        k as m,\n    )\n"
        "from lindrop import n\nfrom lindropped import o\nimport lindropped.p\n"
    )
    own = [name for name in names_by_python(code) if name.split(".")[0] == "lindrop"]
    assert sorted(imported_names(code)) == sorted(own)
    assert len(own) == 6


def test_the_hash_changes_with_a_reached_module_only(tmp_path):
    package = tmp_path / "lindrop"
    package.mkdir()
    for name, text in {
        "__init__.py": "",
        "a.py": "from lindrop.b import x\n",
        "b.py": "x = 1\n",
        "c.py": "y = 1\n",
    }.items():
        (package / name).write_text(text)
    script = tmp_path / "script.py"
    script.write_text("import lindrop.a\n")
    before = imports_digest(script, tmp_path)
    (package / "c.py").write_text("y = 2\n")
    assert imports_digest(script, tmp_path) == before
    (package / "b.py").write_text("x = 2\n")
    assert imports_digest(script, tmp_path) != before


def test_the_hash_of_a_module_changes_with_itself_too(tmp_path):
    package = tmp_path / "lindrop"
    package.mkdir()
    module, imported = package / "a.py", package / "b.py"
    module.write_text("from lindrop.b import x\n")
    imported.write_text("x = 1\n")
    found = [module_digest(module, tmp_path)]
    for file in (module, imported):
        file.write_text(file.read_text() + "y = 2\n")
        found.append(module_digest(module, tmp_path))
    assert len(set(found)) == 3


def test_package_files_hold_no_code():
    """They run on every import and are in no hash: a docstring, and the version, which changes
    nothing that is computed."""
    version = "from lindrop.version import VERSION as __version__\n__all__ = ['__version__']"
    for file in (WORKFLOW / "lindrop").rglob("__init__.py"):
        first, *others = ast.parse(file.read_text()).body
        assert isinstance(first, ast.Expr), file
        allowed = version if file.parent.name == "lindrop" else ""
        assert "\n".join(map(ast.unparse, others)) == allowed, file


def test_an_import_that_hides_its_module_is_refused(tmp_path):
    (tmp_path / "lindrop").mkdir()
    script = tmp_path / "script.py"
    script.write_text("from lindrop import split\n")
    with pytest.raises(ValueError, match="from the module that defines it"):
        imports_digest(script, tmp_path)
