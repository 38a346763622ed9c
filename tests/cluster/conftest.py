import pytest

from support.forks import REAL
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
    """Jobs of a cluster begin as those of a user: its limits are for what they start."""
    project.env |= REAL
    return project


@pytest.fixture
def theirs(theirs):
    theirs.env |= REAL
    return theirs
