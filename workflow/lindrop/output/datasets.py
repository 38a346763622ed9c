"""What was read of each dataset and how it was split."""

from collections.abc import Sequence

import pandas as pd

from lindrop.data.provenance import check_label
from lindrop.data.split import settings_of
from lindrop.store.interactions import read_raw_counts
from lindrop.store.split import read_split_facts, read_tested

CAPTION = "Datasets as they were read, filtered and split"


def data(interactions: Sequence[str], splits: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """A line for each dataset, from its files of interactions and of the split.

    `repeats` counts rows above `min_rating` that repeat a pair of user and item: before the filters
    if repeats were dropped, otherwise after them. `density` is the share of all pairs that are
    interactions. `test_users` counts users with test items: metrics are means over these.
    """
    return pd.DataFrame(
        [
            _facts(name, of_file, split)
            for name, of_file, split in zip(names, interactions, splits, strict=True)
        ]
    )


def _facts(name: str, interactions: str, split: str) -> dict[str, object]:
    counts, protocol, source = read_split_facts(split)
    settings = settings_of(protocol)
    pairs = counts.interactions - counts.duplicate_rows
    return {
        "dataset": name,
        "rows": read_raw_counts(interactions).rows,
        "min_rating": protocol.min_rating,
        "repeats": counts.repeats_dropped + counts.duplicate_rows,
        "repeats_are": protocol.repeats,
        "users": counts.users,
        "users_dropped": counts.users_dropped,
        "items": counts.items,
        "items_dropped": counts.items_dropped,
        "interactions": counts.interactions,
        "density": pairs / (counts.users * counts.items),
        "split": settings.get("split", "users"),
        "test_users": read_tested(split),
        "test_masked": counts.test_masked,
        "source": check_label(source),
    }


def table(data: pd.DataFrame) -> pd.DataFrame:
    """The table for programs, as it is."""
    return data


def shown(data: pd.DataFrame) -> pd.DataFrame:
    """Table for readers, without what the filters dropped."""
    lines = {
        "rows read": data["rows"].map("{:,}".format),
        "repeats of a pair": data["repeats"].map("{:,}".format) + " (" + data["repeats_are"] + ")",
        "users": data["users"].map("{:,}".format),
        "items": data["items"].map("{:,}".format),
        "interactions": data["interactions"].map("{:,}".format),
        "density": data["density"].map("{:.2%}".format),
        "split": data["split"],
        "test users": data["test_users"].map("{:,}".format),
        "source": data["source"],
    }
    return pd.DataFrame({"dataset": data["dataset"]} | lines)
