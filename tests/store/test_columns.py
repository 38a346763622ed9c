"""A model joined from files of its columns is the whole model, or is refused."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import Damaged, UserError
from lindrop.base.stopwatch import Cost
from lindrop.models.base import SparseItems, Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.store.columns import join_columns, write_columns
from support.models import tasteful

GIVEN = {"neighbours": 9.0, "p": 0.4, "ridge": 5.0}
SPLIT = "5" * 64
X = tasteful(300, 70)


def shards(folder, cuts):
    """Files of the columns between each two cuts, and their ranges."""
    data, paths = Training.of(X), []
    for start, stop in itertools.pairwise(cuts):
        block = CATALOGUE["sparse_edlae"].fit_columns(data, range(start, stop), **GIVEN)
        paths.append(folder / f"{start}-{stop}.h5")
        columns, cost = range(start, stop), Cost(2.0, 100 + start)
        write_columns(paths[-1], "sparse_edlae", block, columns, GIVEN, SPLIT, cost)
    return paths


def join(paths, items=70, given=GIVEN, split=SPLIT, name="sparse_edlae"):
    return join_columns(paths, name, items, given, split)


@pytest.mark.parametrize("cuts", [[0, 70], [0, 35, 70], [0, 1, 2, 50, 70], [0, 0, 70, 70]])
def test_any_ranges_give_the_whole_model_and_the_cost_of_all(cuts, tmp_path):
    found = join(shards(tmp_path, cuts))
    whole = fit("sparse_edlae", Training.of(X), **GIVEN).model
    for part in ("indptr", "indices", "data"):
        one, other = getattr(found.model, part), getattr(whole, part)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert found.earlier == Cost(2.0 * (len(cuts) - 1), 100 + cuts[-2])


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ([0, 2], "is not column 20 and those after it"),
        ([1, 2], "is not column 0 and those after it"),
        ([0, 1, 1, 2], "is not column 50 and those after it"),
        ([0, 1], "ends at column 50 of 70"),
    ],
)
def test_a_missing_or_repeated_range_is_refused(order, problem, tmp_path):
    paths = shards(tmp_path, [0, 20, 50, 70])
    with pytest.raises(UserError, match=rf"{problem}.*: delete it.* run again"):
        join([paths[number] for number in order])


@pytest.mark.parametrize(
    "other",
    [{"given": GIVEN | {"p": 0.5}}, {"split": "6" * 64}, {"name": "sparse_ease"}],
)
def test_columns_of_another_fit_are_refused(other, tmp_path):
    with pytest.raises(UserError, match="the rule model_shard makes it anew"):
        join(shards(tmp_path, [0, 70]), **other)


def test_entries_outside_the_range_are_damage(tmp_path):
    block = sp.csr_array(([1.0], ([3], [40])), shape=(70, 70))
    arrays = SparseItems(block.indptr, block.indices, block.data)
    path = tmp_path / "shard.h5"
    write_columns(path, "sparse_edlae", arrays, range(40), GIVEN, SPLIT, Cost(1, 1))
    with pytest.raises(Damaged, match="other columns than it says"):
        join([path])
