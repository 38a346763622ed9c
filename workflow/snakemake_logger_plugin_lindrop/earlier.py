"""Read how long the jobs of earlier runs took, from Snakemake's benchmark files."""

import csv
from collections import defaultdict
from pathlib import Path


def earlier_runs(folder: Path) -> dict[str, dict[str, float]]:
    """Seconds of earlier jobs, by rule and benchmark file (`<rule>.tsv` or below `<rule>/`)."""
    took: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for file in folder.rglob("*.tsv"):
        rule = file.relative_to(folder).parts[0].removesuffix(".tsv")
        if seconds := _seconds(file):
            took[rule][str(file)] = seconds
    return dict(took)


def _seconds(file: Path) -> float:
    """Seconds that a job took in all its repetitions; 0 if the file does not say."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return sum(float(row["s"]) for row in csv.DictReader(lines, delimiter="\t"))
    except (OSError, ValueError, KeyError, TypeError):  # a file cut short, or not a benchmark
        return 0.0
