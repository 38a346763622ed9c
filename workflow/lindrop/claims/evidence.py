"""Views of claims and errata for the page of results: checks by file, links to related items."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lindrop.claims.assess import Assessed, AssessedPaper
from lindrop.claims.checks import CHARITABLE, CORRECTED, EXTENSION, FORMS, PRINTED, Check, Form
from lindrop.claims.media import MISSING, paper_of
from lindrop.claims.register import Claim, Erratum
from lindrop.claims.tables import number
from lindrop.claims.verdicts import Verdict

SYMBOL = {
    Verdict.REPRODUCED: "✓",
    Verdict.EXTENDED: "+",
    Verdict.IN_SHAPE: "≈",
    Verdict.CORRECTED: "✎",
    Verdict.REFUTED: "✗",
    Verdict.NOT_REPRODUCED: "?",
    Verdict.OTHERWISE: "≠",
    Verdict.UNDECIDED: "~",
    Verdict.NOT_RUN: "○",
}
ERRATUM_KINDS = {
    "error": "Errors: no reading that we found saves the words as they stand",
    "misprint": "Misprints of the paper or of our copy: another line has the right form",
    "extension": "Extensions: the paper is right, and more is true",
    "withdrawn": "Withdrawn: earlier versions of this page took them for errors",
}
DATA = {
    "none": "none needed",
    "published": "the paper's",
    "other": "other real data",
    "synthetic": "generated, no evidence",
}
FIXED = "\N{NO-BREAK SPACE}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Evidence:
    """A claim or erratum of a paper, with its checks as the page shows them."""

    paper: str
    assessed: Assessed[Claim] | Assessed[Erratum]

    @property
    def anchor(self) -> str:
        """Address of the claim on the page, `<paper>/<claim>`."""
        return f"{self.paper}/{self.assessed.entry.id}"

    @property
    def missing(self) -> list[str]:
        """Names of the checks of this claim or erratum that the run did not compute."""
        made = {check.claim for check in self.assessed.checks}
        return [name for name in self.assessed.entry.checks if name not in made]

    @property
    def known(self) -> list[Check]:
        """Checks that computed a finite number."""
        return [check for check in self.assessed.checks if check.known]

    @property
    def held(self) -> int:
        """Number of checks that hold."""
        return sum(check.holds for check in self.known)

    @property
    def tally(self) -> str:
        """How many checks hold, such as `3 of 4`; per form if there are checks of several forms."""
        forms = [
            (form, [check.holds for check in self.known if check.form == form]) for form in FORMS
        ]
        made = [(form, holds) for form, holds in forms if holds]
        if len(made) > 1:
            return ", ".join(f"{form} {sum(holds)} of {len(holds)}" for form, holds in made)
        return f"{self.held} of {len(self.known)}"

    @property
    def share(self) -> float:
        """Share of the checks that hold; 2 for a claim without checks, which sorts it last."""
        return self.held / len(self.known) if self.known else 2.0

    def telling(self, form: Form) -> Check | None:
        """The one check of a form to show: the first that fails, else the first; None if none."""
        checks = [check for check in self.assessed.checks if check.form == form]
        failing = (check for check in checks if not check.holds)
        return next(failing, next(iter(checks), None))

    @property
    def pair(self) -> list[Check]:
        """One check of the printed form, and one of each form that holds instead or beyond it."""
        shown = (self.telling(form) for form in (PRINTED, CHARITABLE, CORRECTED, EXTENSION))
        return [check for check in shown if check]


@dataclass(frozen=True)
class ClaimView(Evidence):
    """A claim with its errata, and the ids of its figures and tables that this run made."""

    assessed: Assessed[Claim]
    errata: tuple[Assessed[Erratum], ...]
    figures: tuple[str, ...]
    tables: tuple[str, ...]


@dataclass(frozen=True)
class ErratumView(Evidence):
    """An erratum with the claims that share a check with it."""

    assessed: Assessed[Erratum]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class PaperView:
    """A paper with the views of its claims and errata."""

    source: AssessedPaper
    claims: tuple[ClaimView, ...]
    errata: tuple[ErratumView, ...]

    @property
    def short(self) -> str:
        """Short name of the paper, such as `Pal 2020`."""
        return paper_of(self.source.paper.id)


def view(paper: AssessedPaper, figures: Sequence[str], tables: Sequence[str]) -> PaperView:
    """View of a paper; its claims link those of their figures and tables that are in the lists."""
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
    """Number as text with four digits, such as `0.25` or `−3.1 × 10⁻⁷`; `–` if not finite."""
    if not math.isfinite(value):
        return MISSING
    digits, _, power = number(value).replace("-", "−", value < 0).partition("e")
    if not power:
        return digits
    factor = "" if digits == "1" else f"{digits}{FIXED}×{FIXED}"
    return f"{factor}10{str(int(power)).translate(SUPERSCRIPTS)}"


def asked(check: Check) -> str:
    """What a check requires of its number, such as `at most 0.2 ± 0.05`."""
    tolerance = f"{FIXED}±{FIXED}{shown(check.tolerance)}" if check.tolerance else ""
    return f"{check.relation} {shown(check.expected)}{tolerance}"
