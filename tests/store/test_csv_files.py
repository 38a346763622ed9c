"""Tables in csv files keep the names of datasets and users, whatever they look like."""

import numpy as np
import pandas as pd
import pytest

from lindrop.papers.steck2020.section_6 import rows_of
from lindrop.store.csv_files import read_csv, read_plain, write_csv

TABLE = pd.DataFrame({"dataset": ["x", "x"], "mean": [0.5, np.nan], "paper": ["MSD", None]})


@pytest.mark.parametrize("name", ["nan", "null", "na", "007", "2020", "1e5", "inf", "true"])
def test_datasets_and_users_keep_their_names(tmp_path, name):
    table = TABLE.assign(dataset=name, user=[name, "7"])
    table.to_csv(tmp_path / "plain.csv", index=False)
    write_csv(tmp_path / "sealed.csv", table)
    for found in (read_plain(tmp_path / "plain.csv"), read_csv(tmp_path / "sealed.csv", "a rule")):
        assert list(found["dataset"]) == [name, name]
        assert list(found["user"]) == [name, "7"]
        assert found["mean"].isna().tolist() == found["paper"].isna().tolist() == [False, True]
        assert len(found.groupby("dataset")) == 1
    assert len(rows_of(str(tmp_path / "plain.csv"), name)) == 2


def test_a_user_of_two_files_is_the_same_one(tmp_path):
    """pandas would read ids as numbers in a file where all look so, and as texts in others."""
    for number, users in enumerate((["7", "8"], ["7", "07"], ["7", "a"])):
        write_csv(tmp_path / f"{number}.csv", pd.DataFrame({"user": users}))
    both = pd.concat(read_csv(tmp_path / f"{number}.csv", "a rule") for number in range(3))
    assert sorted(set(both["user"])) == ["07", "7", "8", "a"]
