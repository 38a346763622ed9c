import http.server
import os
import shutil
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from support import forks
from support.configurations import GENERATED
from support.files import serving, write_zip
from support.modules import CONFIG, TAG
from support.progress import Progress
from support.project import Project
from support.repository import REPOSITORY, copy_project

os.fsync = forks.without_waiting  # also in processes that are forks
SHARED = Path(os.environ.get("LINDROP_REAL_DATA", REPOSITORY.parent / "shared" / "data"))


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist has no terminal
        config.pluginmanager.register(Progress(config))


def pytest_collection_modifyitems(items):
    """Files of whole runs first, those with the most tests before others.

    Begun last, one would leave a worker alone for minutes. Then comes what else starts Snakemake,
    and the papers' experiments.
    """
    tests = Counter(item.path for item in items)

    def turn(item):
        whole, rooms = item.path.name.endswith("_runs.py"), item.path.parts
        return not whole, -whole * tests[item.path], "workflow" not in rooms, "papers" not in rooms

    items.sort(key=turn)


@pytest.fixture(scope="session")
def shared():
    """Real data that cannot be committed; the tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs real ratings in {SHARED}: see CONTRIBUTING.md")
    return SHARED


@pytest.fixture
def project(tmp_path):
    """A project of its own, for a test that changes it."""
    return Project(copy_project(tmp_path))


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """A web server with the generated ratings as ml-20m.zip, and what it was asked for."""
    folder = tmp_path_factory.mktemp("mirror")
    write_zip(folder / "ml-20m.zip", {"ml/ratings.csv": (GENERATED / "ratings.csv").read_text()})
    (folder / "page.zip").write_text("<!DOCTYPE html><html>Moved</html>")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(folder))
    )
    server.folder, server.asked = folder, asked
    server.url = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield server


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository of this tree, uncommitted changes included, with a tag.

    Its place ends as on a host of repositories: owner/name.
    """
    folder = tmp_path_factory.mktemp("github.com") / "lindrop-authors" / "lindrop"
    copy_project(folder)
    author = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "--quiet"], ["add", "--all"], [*author, "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    subprocess.run(["git", "tag", TAG], cwd=folder, check=True)
    # what is used is the tag, not what lies about
    shutil.rmtree(folder / "workflow" / "lindrop")
    return folder


@pytest.fixture
def theirs(tmp_path):
    """Somebody's own folder, with interactions and a configuration."""
    project = Project(tmp_path)
    project.write("config.yaml", CONFIG)
    rows = [f"u{user},p{user % 5 + item}" for user in range(60) for item in range(8)]
    project.write("my.csv", "\n".join(["user,item", *rows]))
    return project
