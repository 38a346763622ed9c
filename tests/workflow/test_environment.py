"""What is installed: hashed locks, conda environments that equal them, nothing of this machine."""

import re
import subprocess
import tomllib

import pytest
import yaml
from rattler import MatchSpec

from lindrop.base.digest import reachable
from support.repository import REPOSITORY
from support.requirements import KNOWN
from support.rules import rules

ENVS = sorted((REPOSITORY / "envs").glob("*.yaml"))
WORKFLOW = REPOSITORY / "workflow"
CONDA_NAME = {
    "matplotlib": "matplotlib-base",  # without the Qt that nobody needs here
    "torch": "pytorch",
}


def lock(name):
    """Pinned version by package of a lock file."""
    text = (REPOSITORY / name).read_text()
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", text, re.MULTILINE))


def names(requirements):
    """The packages that requirements ask for, without versions and conditions."""
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
REQUESTED = {
    "requirements.lock": names(
        PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["workflow"]
    ),
    **{
        f"requirements-{group}.lock": names(requirements)
        for group, requirements in PROJECT["dependency-groups"].items()
    },
}


@pytest.mark.parametrize("file", REQUESTED)
def test_lock_pins_and_hashes_all_that_is_requested(file):
    pinned = lock(file)
    assert REQUESTED[file] <= set(pinned)
    entries = re.split(r"\n(?=\S)", (REPOSITORY / file).read_text().strip())
    assert len(entries) == len(pinned), "one version of each package, whatever the platform"
    for entry in entries:
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


@pytest.mark.parametrize(
    "other", ["requirements-dev.lock", "requirements-cluster.lock", "requirements-deep.txt"]
)
def test_the_locks_agree(other):
    product, tools = lock("requirements.lock"), lock(other)
    shared = product.keys() & tools.keys()
    assert {name: product[name] for name in shared} == {name: tools[name] for name in shared}


@pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)
def test_conda_environment_is_pinned_to_the_lock(env):
    pinned = lock("requirements.lock") | lock("requirements-deep.in")
    pinned = {CONDA_NAME.get(k, k): v for k, v in pinned.items()}
    content = yaml.safe_load(env.read_text())
    assert content.keys() == {"channels", "dependencies"}
    assert content["channels"] == ["conda-forge", "nodefaults"]
    for text in content["dependencies"]:
        spec = MatchSpec(text, strict=True)
        name, version = spec.name.normalized, str(spec.version)
        assert re.fullmatch(r"==\d+(\.\d+)+", version), f"{text}: not an exact version"
        if name != "python":
            assert version == f"=={pinned[name]}", f"{env.name}: {text}"
    assert len(content["dependencies"]) == len(set(content["dependencies"]))


def test_conda_python_is_one_that_the_project_supports():
    least = tuple(map(int, PROJECT["project"]["requires-python"].removeprefix(">=").split(".")))
    for env in ENVS:
        (python,) = re.findall(r"- python ==([\d.]+)", env.read_text())
        assert tuple(map(int, python.split(".")))[:2] >= least


def test_every_rule_has_its_environment_and_every_environment_its_rule():
    for rule in rules():
        assert rule.conda, rule.name
    assert {rule.conda for rule in rules()} == set(ENVS)


PACKAGE = {
    "yaml": "pyyaml",
    "matplotlib": "matplotlib-base",
    "mpl_toolkits": "matplotlib-base",
    "torch": "pytorch",
}


def test_what_a_script_imports_is_in_its_environment():
    for rule in filter(lambda rule: rule.script, rules()):
        specs = yaml.safe_load(rule.conda.read_text())["dependencies"]
        packages = {MatchSpec(spec, strict=True).name.normalized for spec in specs}
        modules = [WORKFLOW / f"{name.replace('.', '/')}.py" for name in rule.modules if name]
        for file in reachable([rule.script, *modules], WORKFLOW):
            found = re.findall(r"^(?:from|import) (\w+)", file.read_text(), re.MULTILINE)
            needed = {PACKAGE.get(module, module) for module in set(found) - KNOWN}
            assert needed <= packages, f"rule {rule.name}: {file.name}"


def test_nothing_names_a_package_index_or_a_path_of_a_machine():
    hosts = r"pyp[i]\.org|pythonhoste[d]|npmj[s]\.org|debia[n]\.org"
    pattern = f"{hosts}|/op[t]/(pypi|wheels)|/roo[t]/|/hom[e]/[a-z]"
    found = subprocess.run(
        ["git", "grep", "-nIE", pattern],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert found.stdout == ""


def test_environments_are_ignored_by_git_and_deleted_by_distclean():
    makefile, ignored = ((REPOSITORY / name).read_text() for name in ("Makefile", ".gitignore"))
    (deleted,) = re.findall(r"^distclean:.*\n\t@rm -rf (.*)$", makefile, re.MULTILINE)
    texts = [makefile, *(file.read_text() for file in (REPOSITORY / "benchmarks").rglob("*.py"))]
    names = {name for text in texts for name in re.findall(r"\.venv(?:-\w+)?\b", text)}
    assert {".venv", ".venv-peers", ".venv-recbole"} <= names
    assert names <= set(deleted.split())
    assert {f"/{name}/" for name in names} <= set(ignored.splitlines())
