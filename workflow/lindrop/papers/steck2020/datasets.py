"""Steck 2020, Section 6: the datasets, how far what they show counts, and what is said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import scipy.sparse as sp

from lindrop.claims.checks import Check, Data, equal
from lindrop.data.provenance import Facts, check_label, comparable

MILLION = 1e6


@dataclass(frozen=True)
class Dataset:
    """`paper` is its name in Table 1, where it is proved to be that set."""

    name: str
    data: Data
    paper: str | None = None

    @classmethod
    def of(
        cls, name: str, facts: Facts, column: str | None, published: Mapping[str, Any]
    ) -> "Dataset":
        if column and comparable(facts, published[column]):
            return cls(name, "published", column)
        generated = check_label(facts[2]) == "synthetic"
        return cls(name, "synthetic" if generated else "other")

    def incomparable(self, claim: str) -> Check:
        """Of a claim about printed numbers, where none was printed for this dataset."""
        return equal(claim, f"{self.name}: not a set of the paper", nan, 0, 0, data=self.data)


def published_sets(datasets: Sequence[Dataset], of_paper: int) -> Check:
    """Of claims about all sets of the paper: not a number, so not decided, where one is missing."""
    found = {dataset.paper for dataset in datasets if dataset.paper}
    data: Data = "published" if found else datasets[0].data
    number = float(len(found)) if len(found) == of_paper else nan
    return equal(
        "published_sets", "sets of the paper that were run", number, of_paper, 0, data=data
    )


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
