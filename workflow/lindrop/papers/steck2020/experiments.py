"""The datasets behind Section 6 of Steck 2020, and how far what they show counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from lindrop.claims.checks import Check, Data, equal
from lindrop.data.provenance import Facts, check_label, comparable


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
