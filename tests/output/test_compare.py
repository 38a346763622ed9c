"""The tables of `snakemake compare` where few users, or none, have something to be found."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lindrop.base.stopwatch import Cost
from lindrop.models import tuning
from lindrop.models.base import Fit, Popularity
from lindrop.output import compare, compare_groups
from lindrop.ranking.evaluation import evaluate
from lindrop.store.metrics import write_metrics
from lindrop.store.split import write_split
from support.splits import random_split

METRICS = ["ndcg@3", "coverage@3"]


def fitted(held_out):
    """Popularity on two users, of whom these entries are held out."""
    model = Popularity(np.arange(4.0, 0, -1))
    given = sp.csr_array(held_out.shape)
    found = evaluate(model, given, sp.csr_array(held_out), METRICS, np.ones(4) / 4, by_groups=True)
    results = found.per_user, Cost(1, 2), found.overall, found.groups
    return tuning.Tested(4, {}, "", True, *results), Fit(model)


@pytest.mark.parametrize(
    ("held_out", "cells"),
    [
        ([[1, 0, 0, 0], [0, 0, 0, 0]], ["1.0000", "–", "–"]),
        ([[0, 0, 0, 0], [0, 0, 0, 0]], ["–", "–", "–"]),
        ([[1, 0, 0, 0], [1, 0, 0, 0]], ["1.0000 ± 0.0000", "–", "–"]),
    ],
)
def test_a_number_of_no_user_and_the_error_of_one_are_left_out(tmp_path, held_out, cells):
    split, metrics = tmp_path / "split.h5", tmp_path / "mine" / "popularity.h5"
    write_split(split, random_split(), {"format": "csv"})
    write_metrics(metrics, "mine", "popularity", {4: fitted(np.array(held_out, np.float32))})
    read = [str(metrics)], [str(split)], ["mine"], 4, METRICS
    groups = compare_groups.data(*read)
    assert compare_groups.table(groups)["mean"].dtype == float
    shown = compare_groups.shown(groups)
    of_items = shown[shown["of"].str.contains("items")]
    assert of_items["nDCG@3"].tolist() == cells
    table = compare.table(compare.data(*read, METRICS[0]))
    whole = compare.shown(compare.data(*read, METRICS[0]))["nDCG@3"].tolist()
    assert whole == cells[:1]
    error = pd.isna(table["stderr"].iloc[0])
    assert error == ("±" not in cells[0])
