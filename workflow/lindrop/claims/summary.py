"""What a run found, in one sentence. `python -m lindrop.claims.summary results` prints it."""

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lindrop.claims.verdicts import Verdict


def summary(lines: Sequence[Mapping[str, Any]]) -> str:
    """How many claims have which verdict; `lines` are those of the scorecard, one per claim."""
    counts = Counter(line["verdict"] for line in lines)
    papers = {line["paper"] for line in lines}
    parts = [f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict]]
    return f"{len(lines)} claims of {len(papers)} papers: {', '.join(parts)}."


def last_words(results: Path) -> str:
    """The last words of a run that made the page of results: the summary, and where the page is."""
    with (results / "scorecard.csv").open(encoding="utf-8", newline="") as file:
        found = summary(list(csv.DictReader(file)))
    return f"{found}\nAll results: {results / 'report' / 'index.html'}"


if __name__ == "__main__":
    print(last_words(Path(sys.argv[1])))
