"""Properties of the datasets, beside those in the last rows of Table 1 of Steck 2020."""

from collections.abc import Mapping, Sequence

import pandas as pd

from lindrop.base.yaml_files import read_yaml
from lindrop.data.provenance import dataset_row
from lindrop.store.split import read_split_facts

CAPTION = "Data-set properties, as in Table 1 of Steck 2020"


def data(splits: Sequence[str], datasets: str, columns: Mapping[str, str | None]) -> pd.DataFrame:
    """A row per dataset, from the files of splits and of what the paper prints."""
    published = read_yaml(datasets)
    rows = [
        dataset_row(name, read_split_facts(file), column, published)
        for (name, column), file in zip(columns.items(), splits, strict=True)
    ]
    return pd.DataFrame(rows)


def table(data: pd.DataFrame) -> pd.DataFrame:
    """The properties, as they are."""
    return data


shown = table
