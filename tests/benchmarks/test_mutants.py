"""The committed table of changed formulas: all that no check noticed are explained."""

import pandas as pd

from support.repository import REPOSITORY

TABLE = REPOSITORY / "benchmarks" / "results" / "mutants.csv"


def test_every_mutant_is_caught_or_explained():
    table = pd.read_csv(TABLE, keep_default_na=False)
    assert len(table) >= 60
    assert (table["caught"] == (table["flipped"] > 0)).all()
    assert (table["caught"] == (table["by"] != "")).all()
    assert (table["caught"] == (table["explanation"] == "")).all()
