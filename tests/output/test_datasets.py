"""The table of datasets agrees with its files."""

import numpy as np

from lindrop.data.split import Protocol, split
from lindrop.models.base import Popularity
from lindrop.output.datasets import data
from lindrop.ranking.evaluation import evaluate
from lindrop.store.interactions import write_interactions
from lindrop.store.split import write_split
from support.splits import interactions_of


def test_test_users_are_those_over_whom_metrics_are_means(tmp_path):
    """A test user with fewer than five rows has none held out, so nothing to be tested with."""
    rows = [(f"u{user}", f"i{item}") for user in range(60) for item in range(2 + user % 9)]
    interactions = interactions_of(rows)
    made = split(interactions, Protocol(20))
    source = {"format": "csv", "verified_by": None}
    files = [str(tmp_path / f"{name}.h5") for name in ("interactions", "split")]
    write_interactions(files[0], interactions, source)
    write_split(files[1], made, source)
    (line,) = data(files[:1], files[1:], ["mine"]).to_dict("records")
    parts = [made.matrix(f"test/{part}") for part in ("fold_in", "held_out")]
    tested = evaluate(Popularity(np.arange(10.0)), *parts).per_user.notna().all(axis=1)
    assert line["test_users"] == tested.sum() < 20
    assert (line["rows"], line["interactions"], line["users"]) == (len(rows), len(rows), 60)
