"""config/claims/<paper>.yaml: what each paper says, and which checks decide it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from lindrop.base.errors import UserError
from lindrop.base.yaml_files import read_yaml

SCHEMA = Path(__file__).parents[1] / "schemas" / "claims.schema.yaml"


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper; its fields are described in schemas/claims.schema.yaml."""

    paper: str
    id: str
    where: str
    kind: str
    says: str
    checks: tuple[str, ...]
    tolerance: float
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    run: str = "make"  # what decides it
    mended: str | None = None
    opposite: str | None = None

    @property
    def right(self) -> str | None:
        """What is so where the claim as printed is not."""
        return self.mended or self.opposite


@dataclass(frozen=True)
class Erratum:
    """What a paper prints and what is right."""

    paper: str
    id: str
    where: str
    printed: str
    corrected: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    id: str
    title: str
    authors: str
    venue: str
    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]

    @property
    def checks(self) -> tuple[str, ...]:
        """The names of all files that decide something, once each, in the claims' order."""
        entries: tuple[Claim | Erratum, ...] = (*self.claims, *self.errata)
        return tuple(dict.fromkeys(name for entry in entries for name in entry.checks))


def read_papers(files: Iterable[str | Path], schema: str | Path) -> list[Paper]:
    """In the given order."""
    rules = read_yaml(schema)
    return [read_paper(Path(file), rules) for file in files]


def read_paper(file: Path, schema: Mapping[str, Any]) -> Paper:
    """A paper's claims; UserError where the file does not follow the schema."""
    content = read_yaml(file)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(content):
        where = ".".join(map(str, error.absolute_path)) or "the file"
        raise UserError(f"{file}: {where}: {error.message}")
    paper = file.stem
    return Paper(
        paper,
        content["title"],
        content["authors"],
        content["venue"],
        tuple(Claim(paper, id, **_tuples(entry)) for id, entry in content["claims"].items()),
        tuple(Erratum(paper, id, **_tuples(entry)) for id, entry in content["errata"].items()),
    )


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
