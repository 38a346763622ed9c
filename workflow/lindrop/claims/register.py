"""Register of claims and errata, config/claims/<paper>.yaml: statements, and checks that decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.schemas import Validator
from lindrop.base.yaml_files import read_yaml


@dataclass(frozen=True)
class Accusation:
    """Why a claim counts as wrong: the paper's words, and why their fairest reading fails."""

    quote: str
    charitable: str
    fails: str
    line: int | None = None  # of the quote in our copy of the paper


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
    instead: str | None = None  # what holds instead of a claim that fails
    extension: str | None = None  # what holds beyond the claim
    our_copy: str | None = None  # doubts about the text that we had
    accusation: Accusation | None = None


@dataclass(frozen=True)
class Erratum:
    """A place of a paper to read with care, and the checks that show it.

    `kind` is error, misprint, extension or withdrawn; only an error accuses the paper, and only an
    error says why the most charitable reading `fails`.
    """

    paper: str
    id: str
    kind: str
    where: str
    printed: str
    holds: str
    quote: str
    charitable: str
    line: int | None = None
    fails: str = ""
    checks: tuple[str, ...] = ()

    @property
    def accusation(self) -> Accusation | None:
        """What the claims that refer to this erratum are accused of; None unless it is an error."""
        if self.kind != "error":
            return None
        return Accusation(self.quote, self.charitable, self.fails, self.line)


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
    errata = {id: _erratum(file, id, entry) for id, entry in content["errata"].items()}
    return Paper(
        paper,
        content["title"],
        content["authors"],
        content["venue"],
        tuple(_claim(file, id, entry, errata) for id, entry in content["claims"].items()),
        tuple(errata.values()),
        content.get("available", ""),
    )


def _erratum(file: Path, id: str, entry: Mapping[str, Any]) -> Erratum:
    if (entry["kind"] == "error") != ("fails" in entry):
        raise UserError(
            f"{file}: errata.{id}: an error, and only an error, says why its charitable reading "
            f"fails; its kind is {entry['kind']}"
        )
    return Erratum(file.stem, id, **_tuples(entry))


def _claim(file: Path, id: str, entry: Mapping[str, Any], errata: Mapping[str, Erratum]) -> Claim:
    fields = _tuples(entry)
    accused = fields.pop("accusation", None)
    if isinstance(accused, str):
        if accused not in errata or errata[accused].accusation is None:
            raise UserError(f"{file}: claims.{id}.accusation: {accused} is no erratum of an error")
        fields["accusation"] = errata[accused].accusation
    elif accused is not None:
        fields["accusation"] = Accusation(**accused)
    return Claim(file.stem, id, **fields)


def _tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
