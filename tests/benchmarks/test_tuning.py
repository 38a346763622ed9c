"""The search of a grid chooses as well as fits of the whole grid, as the docs say it does."""

import pandas as pd
from tuning import OUTPUT

from lindrop.models.catalogue import CATALOGUE
from lindrop.ranking.grids import grid
from support.repository import REPOSITORY

FOUND = pd.read_csv(OUTPUT)


def searched():
    """The models whose default grid has more than one point, except the deep networks."""
    options = {
        name: {key: option.default for key, option in entry.options.items()}
        for name, entry in CATALOGUE.items()
        if not entry.torch
    }
    return {name for name, defaults in options.items() if len(grid(defaults)) > 1}


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
    says = "On the demo set, MovieLens 100K and MovieLens 1M, no choice was worse than that of the"
    assert f"{says} whole grid by one paired standard error" in text
    compared = FOUND.groupby("dataset")["model"].agg(set)
    assert compared["demo"] == compared["ml-100k"] == set(FOUND["model"]) < searched()
    for where, missing in {
        "any set": searched() - compared["demo"],
        "MovieLens 1M": compared["demo"] - compared["ml-1m"],
    }.items():
        names = ", ".join(f"`{name}`" for name in sorted(missing))
        assert f"Not compared on {where}: {names}." in text
