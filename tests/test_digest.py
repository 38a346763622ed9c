"""A rule reruns when a module behind its script changes, and only then."""

import pytest
from conftest import ROOT

from lindrop.digest import imports_digest, reachable

WORKFLOW = ROOT / "workflow"


def names(script):
    files = reachable(WORKFLOW / "scripts" / script, WORKFLOW)
    return {str(file.relative_to(WORKFLOW / "lindrop")) for file in files}


def test_imports_are_followed_through_modules():
    assert names("verify_source.py") == {
        "data/archives.py",
        "data/fetch.py",
        "errors.py",
        "reporting.py",
        "store/atomic.py",
        "store/receipt.py",
    }
    assert "data/netflix.py" in names("read_interactions.py")
    assert "data/netflix.py" not in names("split.py")


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


def test_package_files_hold_no_code():
    """They run on every import and are in no hash, so they must stay empty but for a docstring."""
    import ast

    for file in (WORKFLOW / "lindrop").rglob("__init__.py"):
        (only,) = ast.parse(file.read_text()).body
        assert isinstance(only, ast.Expr), file


def test_an_import_that_hides_its_module_is_refused(tmp_path):
    (tmp_path / "lindrop").mkdir()
    script = tmp_path / "script.py"
    script.write_text("from lindrop import split\n")
    with pytest.raises(ValueError, match="from the module that defines it"):
        imports_digest(script, tmp_path)
