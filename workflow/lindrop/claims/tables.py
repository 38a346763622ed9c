"""The scorecard of all claims: results/scorecard.csv and results/scorecard.md."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from lindrop.claims.assess import Assessed, AssessedPaper
from lindrop.claims.checks import Check
from lindrop.claims.register import Claim
from lindrop.claims.summary import summary
from lindrop.claims.verdicts import ACCUSING, MEANING, OPEN, Verdict


def scorecard(papers: Iterable[AssessedPaper]) -> pd.DataFrame:
    """Table with one row per claim, in the order of the papers."""
    return pd.DataFrame([line for paper in papers for line in _lines(paper)])


def _lines(assessed: AssessedPaper) -> list[dict[str, Any]]:
    return [
        {
            "paper": claim.entry.paper,
            "claim": claim.entry.id,
            "where": claim.entry.where,
            "kind": claim.entry.kind,
            "says": claim.entry.says,
            "verdict": claim.verdict.value,
            "holds": beside(claim),
            "checks": len(claim.checks),
            "hold": sum(check.holds for check in claim.checks),
            "evidence": described(claim.telling) if claim.telling else "",
            "errata": " ".join(assessed.errata_of(claim.entry)),
            "run": claim.entry.run if claim.verdict in OPEN else "",
        }
        for claim in assessed.claims
    ]


def beside(claim: Assessed[Claim]) -> str:
    """What holds instead of a claim that fails, beyond one that is extended, or more exactly."""
    entry, verdict = claim.entry, claim.verdict
    if verdict is Verdict.EXTENDED:
        return entry.extension or ""
    fairly_read = verdict is Verdict.REPRODUCED and entry.accusation is None
    return (entry.instead or "") if verdict in ACCUSING or fairly_read else ""


def described(check: Check) -> str:
    """Check as one line, such as `gap (as printed): 0.3, at most 0.2 ± 0.05: fails`."""
    bound = f"{check.relation} {number(check.expected)}"
    if check.tolerance:
        bound += f" ± {check.tolerance:.2g}"
    outcome = f"{check.verdict} ({check.doubt})" if check.doubt else check.verdict
    return f"{check.what} ({check.form}): {number(check.computed)}, {bound}: {outcome}"


def number(value: float) -> str:
    """Number as text with four significant digits."""
    return f"{value:.4g}"


def markdown(papers: Sequence[AssessedPaper]) -> str:
    """Scorecard in Markdown: the number of claims by verdict, then a table per paper."""
    counts = pd.DataFrame(
        [
            {"paper": paper.paper.title} | {verdict: paper.counts[verdict] for verdict in Verdict}
            for paper in papers
        ]
    )
    meanings = "\n".join(f"- **{verdict}**: {MEANING[verdict]}." for verdict in Verdict)
    tables = "\n\n".join(_section(paper) for paper in papers)
    found = summary([line for paper in papers for line in _lines(paper)])
    return (
        f"# Scorecard\n\n{found}\n\n{_table(counts)}\n\n{meanings}\n\n"
        f"Every check with its numbers: `report/index.html`, `experiments/<paper>/`.\n\n{tables}\n"
    )


def _section(paper: AssessedPaper) -> str:
    shown = scorecard([paper])[["where", "says", "verdict", "holds", "evidence", "errata"]]
    return (
        f"## {paper.paper.authors}: {paper.paper.title}\n\n{paper.paper.venue}\n\n{_table(shown)}"
    )


def _table(frame: pd.DataFrame) -> str:
    plain = frame.map(lambda value: str(value).replace("|", r"\|").replace("\n", " "))
    text: str = plain.to_markdown(index=False, disable_numparse=True)
    return text
