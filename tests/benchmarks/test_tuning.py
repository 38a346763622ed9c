"""The search of a grid chooses as well as fits of the whole grid, as the docs say it does."""

import pandas as pd
from tuning import OUTPUT

from support.repository import REPOSITORY

FOUND = pd.read_csv(OUTPUT)


def test_no_choice_is_worse_by_a_paired_standard_error():
    assert (FOUND["difference"] >= -FOUND["stderr"]).all()
    same = FOUND["searched"] == FOUND["of the grid"]
    assert (FOUND.loc[same, "difference"] == 0).all()
    assert (FOUND.loc[~same, "stderr"] > 0).all()


def test_the_docs_name_the_sets_and_say_no_more():
    text = " ".join((REPOSITORY / "docs" / "models.md").read_text(encoding="utf-8").split())
    assert set(FOUND["dataset"]) == {"demo", "ml-100k", "ml-1m"}
    better = FOUND[FOUND["difference"] > 2 * FOUND["stderr"]]
    between = better[better["dataset"] == "ml-1m"]["model"]
    assert {"weight_decay", "product_l2"} == set(between)
    left_out = {"slim", "sampled_dropout", "zero_diagonal", "sparse_edlae", "sparse_ease"}
    assert not left_out & set(FOUND["model"])
    says = "On the demo set, MovieLens 100K and MovieLens 1M, no choice was worse than that of the"
    assert f"{says} whole grid by one paired standard error" in text
