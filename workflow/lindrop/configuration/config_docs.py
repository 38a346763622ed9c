"""Write config/README.md from the schema (`make docs`); a test fails if the two differ."""

from pathlib import Path
from typing import Any

from lindrop.configuration.config import Schema, allowed
from lindrop.configuration.schema import load_schema

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "config" / "README.md"

INTRODUCTION = """\
# Configuration

<!-- Made by `make docs` from workflow/lindrop/schemas/config.schema.yaml and, for the models, from
workflow/lindrop/models/catalogue.py: edit those, not this. -->

| file | what it runs |
|---|---|
| `config.yaml` | the default: data that the generator makes, nothing downloaded |
| `ml-100k.yaml` | the smallest real run: 5 MB, with `deep_models` every row of Table 1 |
| `ml-1m.yaml` | a small real run: one download of 6 MB |
| `ml-1m-time.yaml` | the same archive, split by time |
| `gowalla.yaml` | the split of LightGCN, on which others have published numbers |
| `gowalla-users.yaml` | Gowalla split by users, its places with 40 users or more |
| `quick.yaml` | on top of any of these: two ranks for the curves of Figure 1 |
| `dropout.yaml` | the dropout papers' experiments at the papers' sizes, all else as by default |
| `paper.yaml` | ML-20M, Netflix and MSD, and the dropout papers, at the papers' settings |

`snakemake --cores 8 --configfile config/paper.yaml` runs another file *instead of* the default, or
on top of it if it names no `datasets`; `--config data_dir=/folder` changes single keys of the top
level. A mistake stops the run before any job, with one line that names the key, the value and what
is allowed. Without `make`, Snakemake reads the file first. Its own error or traceback ends the run
if the file is not UTF-8, is not valid YAML, contains itself by an alias, is nested hundreds of
levels deep, has a number of thousands of digits, has a date that does not exist, or has a tag such
as `!!int` before another type. `make CONFIG=FILE` checks the file before and says one line. A name
that YAML reads as something else, such as `010` or `true`, must be quoted.
"""

FILE = "Keys that you leave out are null: they do not keep the published values of another file."


def readme(schema: Schema) -> str:
    """Text of config/README.md."""
    lines = [INTRODUCTION]
    lines += _section("Top level", schema)
    for name, model in schema["properties"]["models"]["properties"].items():
        lines += _section(f"`models.{name}`", model)
    dataset = schema["properties"]["datasets"]["additionalProperties"]
    lines += _section("`datasets.<name>`", dataset)
    for source in dataset["properties"]["source"]["oneOf"]:
        formats = ", ".join(f"`{name}`" for name in source["properties"]["format"]["enum"])
        lines += _section(f"`datasets.<name>.source` with format {formats}", source)
    for protocol in dataset["properties"]["protocol"]["oneOf"]:
        (name,) = protocol["properties"]["split"]["enum"]
        lines += _section(f"`datasets.<name>.protocol` with split `{name}`", protocol)
    for name, settings in _mappings(schema).items():
        if name in ("compare", "recommend"):
            lines += _section(f"`{name}`", settings)
        elif name not in ("models", "images"):  # what is left are papers
            lines += _paper_sections(name, settings)
    for name, files in schema["properties"]["images"]["properties"].items():
        lines += _section(f"`images.{name}`", files)
    one_file = files["properties"].popitem()[1]
    lines += _section("A file of `images`", one_file | {"description": FILE})
    return "\n".join(lines)


def _paper_sections(paper: str, schema: Schema) -> list[str]:
    """Lines on a paper's settings, on their groups, and once on what several groups have."""
    groups = _mappings(schema)
    shared = {name: group for own in groups.values() for name, group in _mappings(own).items()}
    lines = _section(f"`{paper}`", schema)
    for name, group in groups.items():
        lines += _section(f"`{paper}.{name}`", group)
    for name, group in shared.items():
        lines += _section(f"`{paper}.*.{name}`", group)
    return lines


def _mappings(schema: Schema) -> dict[str, Schema]:
    """Keys of a mapping whose values are mappings with known keys."""
    return {name: key for name, key in schema["properties"].items() if "properties" in key}


def _section(title: str, schema: Schema) -> list[str]:
    """Lines of a section with the table of a mapping's keys."""
    required = schema.get("required", [])
    rows = [
        f"| `{name}` | {_type(key)} | {_default(name, key, required)} | {key['description']} |"
        for name, key in schema["properties"].items()
    ]
    head = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    return [f"## {title}", "", schema["description"], "", *head, *rows, ""]


def _type(key: Schema) -> str:
    """Cell of the column `allowed`."""
    return "a mapping" if "oneOf" in key else allowed(key).replace("|", "\\|")


def _default(name: str, key: Schema, required: list[str]) -> str:
    """Cell of the column `default`."""
    default = key.get("default")
    if name in required:
        return "*required*"
    if isinstance(default, dict) and "url" in default:
        return f"{default['url']} with its published size and checksums"
    return f"`{_yaml(default)}`"


def _yaml(value: Any) -> str:
    return "null" if value is None else str(value)


if __name__ == "__main__":
    README.write_text(readme(load_schema()), encoding="utf-8")
