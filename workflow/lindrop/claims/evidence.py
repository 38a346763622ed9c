"""What the page shows of a claim or an erratum: its checks by file, and links to what belongs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lindrop.claims.assess import Assessed, AssessedPaper
from lindrop.claims.checks import CORRECTED, PRINTED, Check, Form
from lindrop.claims.media import MISSING, paper_of
from lindrop.claims.register import Claim, Erratum
from lindrop.claims.tables import number
from lindrop.claims.verdicts import Verdict

SYMBOL = {
    Verdict.REPRODUCED: "✓",
    Verdict.IN_SHAPE: "≈",
    Verdict.CORRECTED: "✎",
    Verdict.REFUTED: "✗",
    Verdict.OTHERWISE: "≠",
    Verdict.NOT_RUN: "○",
}
DATA = {
    "none": "none needed",
    "published": "the paper's",
    "other": "other real data",
    "synthetic": "generated, decides nothing",
}
FIXED = "\N{NO-BREAK SPACE}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Evidence:
    """The checks of one claim or erratum."""

    paper: str
    assessed: Assessed[Claim] | Assessed[Erratum]

    @property
    def anchor(self) -> str:
        return f"{self.paper}/{self.assessed.entry.id}"

    @property
    def missing(self) -> list[str]:
        """The names of checks that this run did not make."""
        made = {check.claim for check in self.assessed.checks}
        return [name for name in self.assessed.entry.checks if name not in made]

    @property
    def known(self) -> list[Check]:
        """The checks that gave a number."""
        return [check for check in self.assessed.checks if check.known]

    @property
    def held(self) -> int:
        return sum(check.holds for check in self.known)

    @property
    def tally(self) -> str:
        """How many checks hold, by form where there are two."""
        forms = [
            (form, [check.holds for check in self.known if check.form == form])
            for form in (PRINTED, CORRECTED)
        ]
        if all(holds for _, holds in forms):
            return ", ".join(f"{form} {sum(holds)} of {len(holds)}" for form, holds in forms)
        return f"{self.held} of {len(self.known)}"

    @property
    def share(self) -> float:
        """Of the checks that hold; above 1 where there are none, to be sorted last."""
        return self.held / len(self.known) if self.known else 2.0

    def telling(self, form: Form) -> Check | None:
        """The check to show of a form: as printed one that fails, if there is one."""
        checks = [check for check in self.assessed.checks if check.form == form]
        failing = (check for check in checks if not check.holds)
        return next(failing, next(iter(checks), None))

    @property
    def pair(self) -> list[tuple[Form, Check | None]]:
        return [(form, self.telling(form)) for form in (PRINTED, CORRECTED)]


@dataclass(frozen=True)
class ClaimView(Evidence):
    """A claim with its errata and with those of its figures and tables that this run made."""

    assessed: Assessed[Claim]
    errata: tuple[Assessed[Erratum], ...]
    figures: tuple[str, ...]
    tables: tuple[str, ...]


@dataclass(frozen=True)
class ErratumView(Evidence):
    """An erratum with the claims that rest on the same checks."""

    assessed: Assessed[Erratum]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class PaperView:
    source: AssessedPaper
    claims: tuple[ClaimView, ...]
    errata: tuple[ErratumView, ...]

    @property
    def short(self) -> str:
        return paper_of(self.source.paper.id)


def view(paper: AssessedPaper, figures: Sequence[str], tables: Sequence[str]) -> PaperView:
    """Of the named figures and tables a claim links those that are its own."""
    claims = tuple(
        ClaimView(
            paper.paper.id,
            claim,
            tuple(e for e in paper.errata if e.entry.id in paper.errata_of(claim.entry)),
            tuple(name for name in claim.entry.figures if name in figures),
            tuple(name for name in claim.entry.tables if name in tables),
        )
        for claim in paper.claims
    )
    errata = tuple(
        ErratumView(
            paper.paper.id,
            erratum,
            tuple(c.assessed.entry for c in claims if erratum in c.errata),
        )
        for erratum in paper.errata
    )
    return PaperView(paper, claims, errata)


def shown(value: float) -> str:
    """Four digits as a reader writes them: 0.25, −3.1 × 10⁻⁷."""
    if not math.isfinite(value):
        return MISSING
    digits, _, power = number(value).replace("-", "−", value < 0).partition("e")
    if not power:
        return digits
    factor = "" if digits == "1" else f"{digits}{FIXED}×{FIXED}"
    return f"{factor}10{str(int(power)).translate(SUPERSCRIPTS)}"


def asked(check: Check) -> str:
    """Such as `at most 0.2 ± 0.05`."""
    tolerance = f"{FIXED}±{FIXED}{shown(check.tolerance)}" if check.tolerance else ""
    return f"{check.relation} {shown(check.expected)}{tolerance}"
