import pytest

from support.project import Project
from support.slurm import Slurm, obstacle


@pytest.fixture(scope="session")
def cluster():
    """Two idle nodes."""
    if reason := obstacle():
        pytest.skip(f"no test cluster: {reason}")
    with Slurm() as cluster:
        yield cluster


@pytest.fixture
def project(project):
    """Jobs of a cluster begin as those of a user: its limits hold for what they start."""
    return Project(project.folder, real=True)


@pytest.fixture
def theirs(theirs):
    return Project(theirs.folder, real=True)
