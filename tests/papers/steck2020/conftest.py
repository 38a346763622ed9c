"""A small study of the five rows of Table 1, for the tests that train them on one split."""

import numpy as np
import pytest

from lindrop.papers.steck2020.attribution import Held, Study
from lindrop.papers.steck2020.procedures import Data
from support.models import tasteful


@pytest.fixture(scope="module")
def study():
    """Rank 4 on 300 users and 40 items; 60 other users each for validation and testing."""
    users = np.array([f"u{number}" for number in range(60)])
    return Study(Data(tasteful(300, 40), 4), held(60, 1), held(60, 2), users)


def held(users, seed):
    """Users of whose items a random part of 30 per cent is held out."""
    x = tasteful(users, 40, seed)
    given = x.copy()
    given.data *= np.random.default_rng(seed).random(x.nnz) < 0.7
    given.eliminate_zeros()
    return Held(given, (x - given).tocsr())
