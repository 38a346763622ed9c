"""Values of `--config` as a configuration file would have them.

Snakemake reads lists and mappings of its command line as texts alone: `ranks=[10,20]` is then a
list of the texts 10 and 20.
"""

from collections.abc import Mapping
from typing import Any

import yaml


def typed(config: Any, given: Any) -> Any:
    """The configuration with numbers, truth values and null where `given` has texts of them.

    `given` is what the command line gave; only what is the same in the configuration is read anew.
    """
    if isinstance(config, Mapping) and isinstance(given, Mapping):
        inner = {key: typed(value, given[key]) for key, value in config.items() if key in given}
        return {**config, **inner}
    if isinstance(config, list) and isinstance(given, list) and len(config) == len(given):
        return [typed(*pair) for pair in zip(config, given, strict=True)]
    if isinstance(config, str) and config == given:
        return _scalar(config)
    return config


def _scalar(text: str) -> Any:
    """What YAML reads in a text if this is no text; dates stay texts, as they are in quotes."""
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        return text
    return value if value is None or isinstance(value, bool | int | float) else text
