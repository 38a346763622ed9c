"""What runs without a person: CI, releases, the check before a commit. They are parsed only."""

import re
import tomllib

import yaml

from support.repository import REPOSITORY

WORKFLOWS = REPOSITORY / ".github" / "workflows"


def read(path):
    """A YAML file; to YAML the key `on` is true."""
    return yaml.safe_load(path.read_text())


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def targets():
    """The targets of the Makefile."""
    return set(
        re.findall(r"^([a-z.][\w./-]*):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    )


def test_ci_runs_the_script_on_the_oldest_python_and_the_newest():
    (job,) = read(WORKFLOWS / "ci.yml")["jobs"].values()
    assert commands(job) == [".ci/run"]
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=")
    assert job["strategy"]["matrix"]["python"] == [oldest, "3.x"]


def test_ci_begins_with_the_two_commands_of_the_readme():
    script = (REPOSITORY / ".ci" / "run").read_text()
    called = re.findall(r"^(?:HOME=\S+ )?(make\b[^&|>]*?)(?: [&|>].*)?$", script, re.MULTILINE)
    readme = (REPOSITORY / "README.md").read_text()
    first_block = re.search(r"```\n(.*?)```", readme, re.DOTALL)[1]
    said = [line.partition("#")[0].strip() for line in first_block.splitlines()]
    assert called[:2] == said == ["make", "make test"]
    assert "apt-get" not in script[: script.index("make test")]
    for command in called[2:]:
        assert command.removeprefix("make ") in targets(), command


def test_a_release_builds_and_checks_the_wheel_of_its_tag():
    workflow = read(WORKFLOWS / "release.yml")
    assert workflow[True] == {"push": {"tags": ["v*"]}}
    (job,) = workflow["jobs"].values()
    wheel, tag, release = commands(job)
    assert wheel == "make wheel"
    assert "lindrop-${GITHUB_REF_NAME#v}-py3-none-any.whl" in tag
    assert release.startswith("gh release create")
    assert "wheel" in targets()


def test_a_commit_is_checked_as_make_lint_does():
    ((hook,),) = [entry["hooks"] for entry in read(REPOSITORY / ".pre-commit-config.yaml")["repos"]]
    assert hook["entry"] == "make lint"
    assert "lint" in targets()
