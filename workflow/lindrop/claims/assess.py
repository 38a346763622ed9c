"""Assessment of claims and errata: their checks, and the verdict that follows from them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lindrop.base.errors import UserError
from lindrop.claims.check_files import read_checks
from lindrop.claims.checks import Check
from lindrop.claims.register import Claim, Erratum, Paper
from lindrop.claims.verdicts import HOLDING, Verdict, strictness, verdict

Entry = TypeVar("Entry", Claim, Erratum)


@dataclass(frozen=True)
class Assessed(Generic[Entry]):
    """A claim or erratum with its checks and verdict."""

    entry: Entry
    checks: tuple[Check, ...]
    verdict: Verdict

    @property
    def telling(self) -> Check | None:
        """The check to show in a summary: of a claim that holds, the first that holds.

        Of an undecided claim it is the first with a doubt, and of every other claim the first that
        fails, if there is one; None without checks.
        """
        holds, undecided = self.verdict in HOLDING, self.verdict is Verdict.UNDECIDED
        telling = (
            check for check in self.checks if (check.doubt if undecided else check.holds == holds)
        )
        return next(telling, next(iter(self.checks), None))


@dataclass(frozen=True)
class AssessedPaper:
    """A paper with all its claims and errata assessed."""

    paper: Paper
    claims: tuple[Assessed[Claim], ...]
    errata: tuple[Assessed[Erratum], ...]

    def errata_of(self, claim: Claim) -> tuple[str, ...]:
        """Ids of the errata that share a check with the claim."""
        return tuple(
            erratum.entry.id
            for erratum in self.errata
            if set(erratum.entry.checks) & set(claim.checks)
        )

    @property
    def counts(self) -> Counter[Verdict]:
        """Number of the paper's claims by verdict."""
        return Counter(claim.verdict for claim in self.claims)


def assess(paper: Paper, files: Iterable[str | Path]) -> AssessedPaper:
    """Assess a paper by the checks in its files <paper>/<job>.json; ignores files of other papers.

    A claim or erratum with a check that no file holds is `NOT_RUN`. UserError if a check is looser
    than its claim allows, or belongs to no claim.
    """
    found: dict[str, tuple[Check, ...]] = {}
    for file in map(Path, files):
        if file.parent.name == paper.id:
            for check in read_checks(file):
                found[check.claim] = (*found.get(check.claim, ()), check)
            _refuse_unclaimed(paper, file, found)
    for claim in paper.claims:
        _refuse_loose(claim, [check for name in claim.checks for check in found.get(name, ())])
    return AssessedPaper(
        paper,
        tuple(
            Assessed(claim, *_decide(claim.checks, found, claim.accusation is not None))
            for claim in paper.claims
        ),
        tuple(
            Assessed(erratum, *_decide(erratum.checks, found, accused=True))
            for erratum in paper.errata
        ),
    )


def _decide(
    names: Iterable[str], found: dict[str, tuple[Check, ...]], accused: bool
) -> tuple[tuple[Check, ...], Verdict]:
    checks = tuple(check for name in names for check in found.get(name, ()))
    complete = all(name in found for name in names)
    return checks, verdict(checks, accused) if complete else Verdict.NOT_RUN


def _refuse_unclaimed(paper: Paper, file: Path, found: Iterable[str]) -> None:
    if unclaimed := sorted(set(found) - set(paper.checks)):
        raise UserError(f"{file}: no claim in config/claims/{paper.id}.yaml names {unclaimed[0]}")


def _refuse_loose(claim: Claim, checks: Sequence[Check]) -> None:
    for check in checks:
        if strictness(check) > claim.tolerance:
            raise UserError(
                f"config/claims/{claim.paper}.yaml: {claim.id}: a check uses a tolerance of "
                f"{strictness(check):.2g}, more than {claim.tolerance:g}: {check.what}"
            )


def total(papers: Iterable[AssessedPaper]) -> Counter[Verdict]:
    """Number of claims by verdict over all papers."""
    return sum((paper.counts for paper in papers), Counter())
