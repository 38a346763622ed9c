"""What the jobs of earlier runs took, from the benchmark files that Snakemake left."""

import csv
from collections import defaultdict
from pathlib import Path


def earlier_runs(folder: Path) -> dict[str, dict[str, float]]:
    """Seconds by rule and benchmark file, from `<rule>.tsv` and all files below `<rule>/`."""
    took: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for file in folder.rglob("*.tsv"):
        rule = file.relative_to(folder).parts[0].removesuffix(".tsv")
        if seconds := _seconds(file):
            took[rule][str(file)] = seconds
    return dict(took)


def _seconds(file: Path) -> float:
    """What a job took, with all its repetitions; 0 where the file does not say."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return sum(float(row["s"]) for row in csv.DictReader(lines, delimiter="\t"))
    except (OSError, ValueError, KeyError, TypeError):  # cut off, or not a benchmark
        return 0.0
