"""The library as a package: what `pip install .` gives, in a folder that is not the clone."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

import lindrop
from support.documents import python_blocks
from support.repository import REPOSITORY, copy_project
from support.requirements import KNOWN

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
# Packages whose module has another name.
PACKAGE = {"yaml": "pyyaml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this tree, uncommitted changes included."""
    folder = copy_project(tmp_path_factory.mktemp("sources"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    (built,) = (folder / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Python of a new environment that has the wheel, and from this one all but lindrop.

    Files that name further folders (.pth, as that of the editable installation of this clone) count
    in an environment's own folder only, not in one that such a file names. `make wheel` installs
    the wheel with pip, with whatever pip takes for its requirements, and names that environment.
    """
    if named := os.environ.get("LINDROP_INSTALLED"):
        return REPOSITORY / named
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", paths))
    with zipfile.ZipFile(wheel) as files:
        files.extractall(packages)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def run(python, code, folder):
    """Standard output of a program that runs in a folder without anything of this project."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    command = [python, "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_holds_the_library_its_schemas_and_its_templates(wheel):
    library = REPOSITORY / "workflow" / "lindrop"
    expected = {
        f"lindrop/{file.relative_to(library).as_posix()}"
        for file in library.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {"lindrop/py.typed", "lindrop/schemas/config.schema.yaml"} <= expected
    with zipfile.ZipFile(wheel) as files:
        held = {name for name in files.namelist() if ".dist-info/" not in name}
    assert held == expected


def test_an_installed_library_is_the_wheels_and_finds_its_files(installed, tmp_path):
    code = """
import importlib.metadata, lindrop
from pathlib import Path
from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
source = {"format": "synthetic", "users": 400, "items": 60, "interactions": 6000}
config = {"datasets": {"tiny": {"source": source, "protocol": {"heldout_users": 50}}}}
assert checked(config, load_schema())["seed"] == 1
assert (Path(lindrop.__file__).parent / "schemas" / "claims.schema.yaml").is_file()
assert importlib.metadata.version("lindrop") == lindrop.__version__
print(lindrop.__file__)
"""
    assert str(installed.parents[1]) in run(installed, code, tmp_path)


@pytest.fixture
def my_csv(tmp_path):
    users = "".join(f"u{u},p{p},5\n" for u in range(2100) for p in range(u % 7, u % 7 + 6))
    (tmp_path / "my.csv").write_text("user_id,product,stars\n" + users)


def test_the_first_example_of_the_library_runs_from_it(installed, my_csv, tmp_path):
    example = python_blocks(REPOSITORY / "docs" / "library.md")[0]
    said = run(installed, example + "\nprint(model.model.encoder.shape)", tmp_path)
    assert "ndcg@100" in said
    assert said.endswith("(12, 5)\n")
    assert (tmp_path / "model.h5").exists()


def test_the_further_examples_of_the_library_continue_the_first(installed, my_csv, tmp_path):
    examples = "\n".join(python_blocks(REPOSITORY / "docs" / "library.md"))
    checks = "\nprint(len(final.items), set(ours.recommend(k=3).groupby('user').size()))"
    assert run(installed, examples + checks, tmp_path).endswith("12 {3}\n")


def test_the_command_line_comes_with_it(installed, my_csv, tmp_path):
    code = """
import importlib.metadata, sys
(command,) = importlib.metadata.entry_points(group="console_scripts", name="lindrop")
grid = ["--models", "ease", "--grid", "ease.lambda=10"]
sys.argv = ["lindrop", "tune", "my.csv", "--as", "table", *grid]
command.load()()
"""
    assert "EASE" not in run(installed, code, tmp_path).splitlines()[0]
    assert (tmp_path / "my.model.h5").exists()
    script = installed.with_name("lindrop")
    if script.exists():  # the wheel was installed by pip
        assert "lindrop tune my.csv" in subprocess.check_output([script], text=True)


def test_what_the_library_imports_is_among_its_requirements():
    stated = {re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}
    found = set()
    for file in (REPOSITORY / "workflow" / "lindrop").rglob("*.py"):
        found |= set(re.findall(r"^ *(?:from|import) (\w+)", file.read_text(), re.MULTILINE))
    found = {PACKAGE.get(name, name) for name in found - KNOWN}
    # PyTorch is an extra; matplotlib brings its toolkits; scikit-learn asks for what it has
    assert found - {"torch", "mpl_toolkits", "sklearn"} == stated - {
        "tabulate"
    }  # which pandas imports


def test_there_is_one_version():
    assert PROJECT["project"]["dynamic"] == ["version"]
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert citation["version"] == lindrop.__version__
    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE)[1] == lindrop.__version__
