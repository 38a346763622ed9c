"""A rule reruns when code behind its script changes, and only then."""

import ast
import sys

import pytest

import lindrop
from lindrop.base.digest import digest, reachable
from lindrop.models.catalogue import CATALOGUE
from support.processes import run
from support.repository import REPOSITORY

WORKFLOW = REPOSITORY / "workflow"


def names(script):
    files = reachable([WORKFLOW / "scripts" / script], WORKFLOW)
    return {str(file.relative_to(WORKFLOW)) for file in files}


def test_imports_are_followed_through_modules():
    assert names("verify_source.py") == {
        "scripts/verify_source.py",
        "lindrop/data/archives.py",
        "lindrop/data/fetch.py",
        "lindrop/base/error_file.py",
        "lindrop/base/blas_kernels.py",
        "lindrop/data/web.py",
        "lindrop/base/errors.py",
        "lindrop/base/reporting.py",
        "lindrop/base/atomic.py",
        "lindrop/store/json_crc.py",
        "lindrop/store/receipt.py",
    }
    assert "lindrop/data/netflix.py" in names("read_interactions.py")
    assert "lindrop/data/netflix.py" not in names("split.py")


@pytest.mark.parametrize("script", ["tune.py", "fit.py", "tune_deep.py", "fit_deep.py"])
def test_a_script_that_fits_any_model_reaches_no_model(script):
    """These scripts import a model through the catalogue, only when they run."""
    modules = {str(entry.module.relative_to(WORKFLOW)) for entry in CATALOGUE.values()}
    assert names(script) & modules == set()
    assert {"lindrop/models/catalogue.py", "lindrop/models/entry.py"} <= names(script)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_model_reaches_the_module_of_no_other_one(name):
    """An edit of one model's module refits the models of this module alone."""
    own = CATALOGUE[name].module
    others = {entry.module for entry in CATALOGUE.values()} - {own}
    assert reachable([own], WORKFLOW) & others == set()


IMPORTS = """
import lindrop.a as b
from lindrop.c import d as e, f  # g
def late():
    from lindrop.h import (
        i,  # j
        k as m,
    )
from lindrop import n
from lindropped import o
import lindropped.p
"""


@pytest.fixture
def package(tmp_path):
    """A script that reaches a and b of a package, not c."""
    folder = tmp_path / "lindrop"
    folder.mkdir()
    for name, text in {"a": "from lindrop.b import x\n", "b": "x = 1\n", "c": "y = 1\n"}.items():
        (folder / f"{name}.py").write_text(text)
    (tmp_path / "script.py").write_text("import lindrop.a\n")
    return tmp_path


def hashed(package, **options):
    return digest([package / "script.py"], package, **options)


def test_imports_of_every_form_are_followed(package):
    for name in "acdfhikn":
        (package / "lindrop" / f"{name}.py").write_text("")
    (package / "script.py").write_text(IMPORTS)
    found = {file.stem for file in reachable([package / "script.py"], package)} - {"script"}
    assert found == {"a", "c", "h", "n"}


@pytest.mark.parametrize(("file", "changes"), [("a", True), ("b", True), ("c", False)])
def test_the_hash_changes_with_what_is_reached_only(file, changes, package):
    before = hashed(package)
    path = package / "lindrop" / f"{file}.py"
    path.write_text(path.read_text() + "z = 2\n")
    assert (hashed(package) != before) == changes


def test_the_hash_is_that_of_the_script_too(package):
    before = hashed(package)
    (package / "script.py").write_text("import lindrop.a\nprint()\n")
    assert hashed(package) != before


CODE = """
def f(x):
    return {"a": x + 1}


class C:
    y = "text"
"""
SAME = '''"""What it is."""
# why
def f(x):
    """What it does."""
    return {
        'a': x + 1,  # layout
    }
class C:
    """What it is."""

    y = "text"
'''


def test_text_is_no_code(package):
    module = package / "lindrop" / "b.py"
    module.write_text(CODE)
    before = hashed(package)
    module.write_text(SAME)
    assert hashed(package) == before
    module.write_text(SAME.replace("x + 1", "x + 2"))
    assert hashed(package) != before
    module.write_text(SAME.replace('y = "text"', 'y = "Text"'))
    assert hashed(package) != before


def test_what_is_left_out_does_not_count(package):
    leave_out = {"without": [package / "lindrop" / "a.py"]}
    before = hashed(package, **leave_out)
    for name in "ab":
        (package / "lindrop" / f"{name}.py").write_text("z = 2\n")
    assert hashed(package, **leave_out) == before


def test_what_is_remembered_is_what_would_be_found(package):
    """Another process finds the same hash, whatever the file of remembered ones holds."""
    code = (
        "from pathlib import Path; from lindrop.base.digest import digest, remember\n"
        "remember(Path('kept/code.json')); print(digest([Path('script.py')], Path()))"
    )
    found = set()
    for damage in (None, None, "", "{", "[]", "null", '{"a": 1}', None):
        if damage is not None:
            (package / "kept" / "code.json").write_text(damage)
        environment = {"PYTHONPATH": str(WORKFLOW)}
        done = run([sys.executable, "-c", code], cwd=package, env=environment)
        assert done.returncode == 0, done.stdout
        found.add(done.stdout)
    assert found == {hashed(package) + "\n"}
    assert (package / "kept" / "code.json").stat().st_size > 100


def test_an_import_that_hides_its_module_is_refused(package):
    (package / "script.py").write_text("from lindrop import split\n")
    with pytest.raises(ValueError, match="from the module that defines it"):
        hashed(package)


def test_package_files_hold_no_code():
    """They run on every import and are in no hash: a docstring, and in the root package the public
    names and where they are defined, which change nothing that is computed."""
    for file in (WORKFLOW / "lindrop").rglob("__init__.py"):
        first, *others = ast.parse(file.read_text()).body
        assert isinstance(first, ast.Expr), file
        if file.parent.name != "lindrop":
            assert not others, file
            continue
        defined = [node.name for node in others if isinstance(node, ast.FunctionDef)]
        assert defined == ["__getattr__"]
        rest = [node for node in others if not isinstance(node, ast.FunctionDef)]
        assert {type(node) for node in rest} <= {ast.Import, ast.ImportFrom, ast.If, ast.Assign}
        assigned = [node for node in rest if isinstance(node, ast.Assign)]
        for node in assigned:
            ast.literal_eval(node.value)
        assert set(lindrop.HOMES) | {"__version__"} == set(lindrop.__all__)
