"""Register of claims and errata, config/claims/<paper>.yaml: statements, and checks that decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.schemas import Validator
from lindrop.base.yaml_files import read_yaml


@dataclass(frozen=True)
class Claim:
    """A claim of a paper; its fields are described in schemas/claims.schema.yaml."""

    paper: str
    id: str
    where: str
    kind: str
    says: str
    checks: tuple[str, ...]
    tolerance: float
    figures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    run: str = "make"  # command that computes its checks
    corrected: str | None = None  # corrected form of a claim that is wrong as printed
    opposite: str | None = None  # what holds instead, if that contradicts the claim

    @property
    def right(self) -> str | None:
        """The statement that holds if the claim fails as printed; None if the register has none."""
        return self.corrected or self.opposite


@dataclass(frozen=True)
class Erratum:
    """An error of a paper: the printed form, the corrected form, and the checks that show it."""

    paper: str
    id: str
    where: str
    printed: str
    corrected: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """A paper with its claims and errata."""

    id: str
    title: str
    authors: str
    venue: str
    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]
    available: str = ""  # the parts of the paper that we had; empty if all

    @property
    def checks(self) -> tuple[str, ...]:
        """Ids of all checks that the paper's entries name, each once, claims before errata."""
        entries: tuple[Claim | Erratum, ...] = (*self.claims, *self.errata)
        return tuple(dict.fromkeys(name for entry in entries for name in entry.checks))


def read_papers(files: Iterable[str | Path], schema: str | Path) -> list[Paper]:
    """Papers from their claim files, in the order of `files`."""
    rules = read_yaml(schema)
    return [read_paper(Path(file), rules) for file in files]


def read_paper(file: Path, schema: Mapping[str, Any]) -> Paper:
    """Paper from its claim file; UserError if the file violates the schema."""
    content = read_yaml(file)
    for error in Validator(schema).iter_errors(content):
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
        content.get("available", ""),
    )


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
