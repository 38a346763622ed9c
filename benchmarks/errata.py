"""Update of the tables in docs/errata.md with what a run computed for each erratum.

    snakemake --cores 2 results/scorecard.csv
    python benchmarks/errata.py results

Writes a table of checks below every line like `<!-- evidence: E7 -->`, replacing the older table.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from lindrop.claims.assess import assess
from lindrop.claims.checks import Check
from lindrop.claims.register import read_papers
from lindrop.claims.tables import number
from lindrop.claims.verdicts import Verdict
from lindrop.papers.catalogue import PAPERS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "errata.md"
EVIDENCE = re.compile(r"(<!-- evidence: (E\d+) -->)\n(?:\n\|(?:.*\n)+?(?=\n|\Z))?")


def table(checks: Iterable[Check]) -> str:
    """Checks as a Markdown table."""
    rows = [
        {
            "form": check.form,
            "what": check.what.replace("|", r"\|"),
            "computed": number(check.computed),
            "required": f"{check.relation} {number(check.expected)}"
            + (f" ± {check.tolerance:.1g}" if check.tolerance else ""),
            "outcome": check.verdict,
        }
        for check in checks
    ]
    return pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)


def main(results: Path) -> None:
    claims = [ROOT / "config" / "claims" / f"{paper}.yaml" for paper in PAPERS]
    schema = ROOT / "workflow" / "lindrop" / "schemas" / "claims.schema.yaml"
    files = sorted(results.glob("experiments/*/*.json"))
    papers = [assess(paper, files) for paper in read_papers(claims, schema)]
    errata = [erratum for paper in papers for erratum in paper.errata]
    for erratum in errata:
        if erratum.verdict is Verdict.NOT_RUN:
            sys.exit(f"{results} lacks checks of {erratum.entry.id}: run the default target first")
    tables = {erratum.entry.id: table(erratum.checks) for erratum in errata}
    text = PAGE.read_text(encoding="utf-8")
    filled = EVIDENCE.sub(lambda found: f"{found[1]}\n\n{tables[found[2]]}\n", text)
    PAGE.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
