"""Steck 2020, Section 6: the datasets, and checks of their sizes, entries and splits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import scipy.sparse as sp

from lindrop.claims.checks import Check, Data, equal
from lindrop.data.provenance import Facts, check_label, comparable
from lindrop.data.published_csv import published_sha256
from lindrop.store.split import read_split

MILLION = 1e6
FIGURE_SET = "Netflix"  # the dataset of Figure 1
OTHER_SETS = "fig1_other_sets"  # the claim about the paper's two other datasets


@dataclass(frozen=True)
class Dataset:
    """A dataset of a run, and its name in Table 1 (`paper`) if its files prove that identity."""

    name: str
    data: Data
    paper: str | None = None

    @classmethod
    def of(
        cls, name: str, facts: Facts, column: str | None, published: Mapping[str, Any]
    ) -> "Dataset":
        """Dataset with the identity that the facts of its split prove."""
        if column and comparable(facts, published[column]):
            return cls(name, "published", column)
        generated = check_label(facts[2]) == "synthetic"
        return cls(name, "synthetic" if generated else "other")

    def incomparable(self, claim: str) -> Check:
        """Undecided check (NaN) of a claim about numbers not printed for this dataset."""
        return equal(claim, f"{self.name}: not a set of the paper", nan, 0, 0, data=self.data)


def published_sets(datasets: Sequence[Dataset], of_paper: int) -> Check:
    """Check that all datasets of the paper were run; undecided (NaN) if one is missing."""
    found = {dataset.paper for dataset in datasets if dataset.paper}
    data: Data = "published" if found else datasets[0].data
    number = float(len(found)) if len(found) == of_paper else nan
    return equal(
        "published_sets", "sets of the paper that were run", number, of_paper, 0, data=data
    )


def dataset_checks(dataset: Dataset, row: Mapping[str, Any], shared: int) -> list[Check]:
    """Checks of a dataset from its row of the properties table.

    `shared` counts the items that are both in a test user's fold-in history and held out.
    """
    name, data = dataset.name, dataset.data
    twice = row["duplicate_rows"]
    return [
        *_properties(dataset, row),
        equal("section_6_binary", f"{name}: entries of X above 1", twice, 0, 0, data=data),
        equal("section_6_disjoint", f"{name}: items both given and asked", shared, 0, 0, data=data),
    ]


def split_checks(dataset: Dataset, split: str, published: Mapping[str, str]) -> list[Check]:
    """Checks that the split is, byte for byte, that of the public code of Liang et al. 2018.

    `published` are the SHA-256 of its files, where they are known: undecided for other datasets.
    """
    claim = "section_6_split"
    if dataset.paper is None or not published:
        return [dataset.incomparable(claim)]
    found = published_sha256(read_split(split))
    return [
        equal(
            *(claim, f"{dataset.name}: {file} as published (1: the same SHA-256)"),
            *(float(found[file] == digest), 1, 0),
            data=dataset.data,
        )
        for file, digest in published.items()
    ]


def _properties(dataset: Dataset, row: Mapping[str, Any]) -> list[Check]:
    """Checks of numbers of items, users and millions of interactions, as printed."""
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
    """Number of test users' items that are in the fold-in history and held out as well."""
    return int(fold_in.multiply(held_out).nnz)


def number(printed: str) -> int:
    """Number in a printed text, such as 20108 for `20,108` and 10 for `10 mil.`"""
    return int(str(printed).replace(",", "").removesuffix(" mil."))
