"""Configurations of a dataset, by their parts, and those in the folder config."""

import yaml

from lindrop.configuration.schema import FILE
from support.repository import REPOSITORY

CONFIGS = sorted((REPOSITORY / "config").glob("*.yaml"))
CSV = {"format": "csv", "path": str(FILE)}


def one(source=None, protocol=None, **more):
    """A configuration of one dataset; without a source, a synthetic one."""
    entry = {
        "source": source or {"format": "synthetic"},
        "protocol": {"heldout_users": 10} | (protocol or {}),
    }
    return {"datasets": {"mine": entry | more}}


def with_default(file):
    """A configuration as Snakemake merges it: a file without datasets adds to the default."""
    given = yaml.safe_load(file.read_text())
    default = yaml.safe_load((REPOSITORY / "config" / "config.yaml").read_text())
    return given if "datasets" in given else default | given


def shared_file(**facts):
    """Two datasets that download the same file; the second states more of it."""
    source = {"format": "msd", "url": "https://a.org/t.zip"}
    first, second = one(source)["datasets"]["mine"], one(source | facts)["datasets"]["mine"]
    return {"datasets": {"a": first | {"source": source | {"bytes": 7}}, "b": second}}


def weak(split, source=None, **protocol):
    """A configuration of one csv file with another split than by users."""
    return {
        "datasets": {
            "mine": {"source": CSV | (source or {}), "protocol": {"split": split} | protocol}
        }
    }
