"""Steck 2020, Section 6: what Table 1 and the text say of the data."""

from collections.abc import Mapping
from typing import Any

import scipy.sparse as sp

from lindrop.claims.checks import Check, equal
from lindrop.papers.steck2020.experiments import Dataset

MILLION = 1e6


def dataset_checks(dataset: Dataset, row: Mapping[str, Any], shared: int) -> list[Check]:
    """Of its row of the table; `shared` entries are in a test user's history and held out, too."""
    name, data = dataset.name, dataset.data
    twice = row["duplicate_rows"]
    return [
        *_properties(dataset, row),
        equal("section_6_binary", f"{name}: entries of X above 1", twice, 0, 0, data=data),
        equal("section_6_disjoint", f"{name}: items both given and asked", shared, 0, 0, data=data),
    ]


def _properties(dataset: Dataset, row: Mapping[str, Any]) -> list[Check]:
    """Interactions are printed in millions."""
    claim = "table1_datasets"
    if dataset.paper is None:
        return [dataset.incomparable(claim)]
    printed = {key: number(row[f"paper_{key}"]) for key in ("items", "users", "interactions")}
    millions = row["interactions"] / MILLION
    return [
        *(
            equal(claim, f"{dataset.name}: {key}", row[key], printed[key], 0, data=dataset.data)
            for key in ("items", "users")
        ),
        equal(
            claim,
            f"{dataset.name}: millions of interactions",
            millions,
            printed["interactions"],
            0.5,
            data=dataset.data,
        ),
    ]


def shared_entries(fold_in: sp.csr_array, held_out: sp.csr_array) -> int:
    """Of the test users: items in what they are scored from and in what is to be found."""
    return int(fold_in.multiply(held_out).nnz)


def number(printed: str) -> int:
    """Such as `20,108`, and `10` of `10 mil.`"""
    return int(str(printed).replace(",", "").removesuffix(" mil."))
