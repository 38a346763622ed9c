import pytest

from support.slurm import Slurm, obstacle


@pytest.fixture(scope="session")
def cluster():
    """Two idle nodes."""
    if reason := obstacle():
        pytest.skip(f"no test cluster: {reason}")
    with Slurm() as cluster:
        yield cluster
