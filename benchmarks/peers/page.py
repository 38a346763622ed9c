"""The tables of the comparison in the documents.

Each stands between a line `<!-- peers: NAME -->` and a line `<!-- end -->`.
"""

import re
from pathlib import Path

import pandas as pd
from peers.libraries import ROOT
from peers.summary import TABLES

PAGES = [ROOT / "docs" / f"{name}.md" for name in ("benchmarks", "performance")]
TABLE = re.compile(r"(<!-- peers: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def filled(text: str, results: pd.DataFrame) -> str:
    """A page with the tables of these results in the place of those that it has."""

    def table(found: re.Match[str]) -> str:
        shown = TABLES[found[2]](results).to_markdown(index=False, disable_numparse=True)
        return f"{found[1]}{shown}\n{found[4]}"

    return TABLE.sub(table, text)


def fill(results: pd.DataFrame, pages: list[Path] = PAGES) -> None:
    """Replace the tables of all pages."""
    for page in pages:
        page.write_text(filled(page.read_text(), results))
