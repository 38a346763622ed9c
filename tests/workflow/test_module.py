"""The workflow as a module of somebody's own workflow, wherever it is taken from."""

import http.server
import os
import shutil
from functools import partial

import pytest

from support.files import serving
from support.modules import SNAKEFILE, TAG, check
from support.repository import REPOSITORY


@pytest.fixture
def web():
    """Address of a web server with the files of this tree."""
    handler = partial(QuietHandler, directory=str(REPOSITORY))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def test_a_module_from_a_folder(theirs):
    theirs.write("Snakefile", SNAKEFILE.format(source=f'"{REPOSITORY}/workflow/Snakefile"'))
    check(theirs, "snakemake")


def test_a_module_from_a_repository_on_this_machine(theirs, repository):
    source = f'"git+file://{repository}/workflow/Snakefile@{TAG}"'
    theirs.write("Snakefile", SNAKEFILE.format(source=source))
    check(theirs, "snakemake")


def test_a_deployed_workflow(theirs, repository):
    """snakedeploy fetches it from a host of repositories, replaced here by a folder."""
    pytest.importorskip(
        "snakedeploy", reason="needs snakedeploy: make .venv/ready-dev with Python < 3.13"
    )
    host = repository.parents[1]
    theirs.write("git.config", f'[url "file://{host}/"]\n    insteadOf = https://github.com/\n')
    theirs.env |= {"GIT_CONFIG_GLOBAL": str(theirs.path("git.config"))}
    theirs.ok(f"snakedeploy deploy-workflow file://{repository} . --tag {TAG} --name lindrop")
    deployed = theirs.path("workflow/Snakefile").read_text()
    assert f'github("lindrop-authors/lindrop", path="workflow/Snakefile", tag="{TAG}")' in deployed
    theirs.path("config.yaml").replace(theirs.path("config/config.yaml"))
    theirs.ok("snakemake --cores 2 results/data/tiny/split.h5")
    assert theirs.path("results/data/tiny/split.h5").exists()
    shutil.rmtree(theirs.path("results"))
    # what the user then changes
    deployed = deployed.replace("config:", 'prefix: "ours"\n    config:', 1)
    deployed = deployed.replace("use rule * from lindrop", "use rule * from lindrop as lindrop_*")
    theirs.write("workflow/Snakefile", deployed)
    check(theirs, "snakemake")


def test_a_module_from_single_files_is_refused_in_one_line(theirs, web):
    theirs.write("Snakefile", SNAKEFILE.format(source=f'"{web}/workflow/Snakefile"'))
    output = theirs.fails("snakemake --cores 2")
    assert "lindrop: error:" in output
    assert "from a folder or from a Git repository" in output
    assert "Traceback" not in output


def test_the_workflow_runs_where_there_is_no_clone(theirs):
    """Run from elsewhere, it takes the clone's default configuration and leaves results there."""
    output = theirs.ok(f"snakemake -n --cores 2 --snakefile {REPOSITORY}/Snakefile data")
    assert "output: results/data/demo/split.h5" in output
    theirs.ok(
        f"snakemake --cores 2 --snakefile {REPOSITORY}/Snakefile results/data/mine/split.h5 "
        "--configfile config.yaml"
    )
    assert theirs.path("results/data/mine/split.h5").exists()


def test_scripts_run_the_library_of_their_workflow(theirs, repository):
    """An installed library of another version, which Python would find first, is not used."""
    theirs.write("installed/lindrop/__init__.py", 'raise RuntimeError("the other version")')
    source = f'"git+file://{repository}/workflow/Snakefile@{TAG}"'
    theirs.write("Snakefile", SNAKEFILE.format(source=source))
    other = os.pathsep.join([str(theirs.path("installed")), os.environ.get("PYTHONPATH", "")])
    theirs.ok("snakemake --cores 2 ours/results/data/tiny/split.h5", PYTHONPATH=other)
