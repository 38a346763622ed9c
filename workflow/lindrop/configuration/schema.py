"""The JSON schema of the configuration: config.schema.yaml and the options of all models."""

from pathlib import Path
from typing import Any

from lindrop.base.yaml_files import read_yaml
from lindrop.configuration.config import Schema
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.options import schema

FILE = Path(__file__).parents[1] / "schemas" / "config.schema.yaml"


def load_schema() -> Schema:
    """The whole schema, with every `$ref` replaced by what it names.

    A model without options, such as popularity, has nothing to configure and no entry.
    """
    read = read_yaml(FILE)
    definitions = read.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(entry) for entry in node]
        if isinstance(node, dict):
            if "$ref" in node:  # keys beside it add to what it names
                beside = {key: value for key, value in node.items() if key != "$ref"}
                return resolve(definitions[node["$ref"].rpartition("/")[2]]) | beside
            return {key: resolve(value) for key, value in node.items()}
        return node

    resolved: Schema = resolve(read)
    resolved["properties"]["models"]["properties"] = {
        name: schema(entry.description, entry.options) | {"x-one-point-per-job": entry.torch}
        for name, entry in CATALOGUE.items()
        if entry.options
    }
    return resolved
