"""Small experiments of Steck 2020's Sections 4.1.2 to 6 on a real dataset, by number of items.

    snakemake --cores 2 results/data/ml-100k/split.h5 --configfile config/ml-100k.yaml
    python benchmarks/embeddings.py ml-100k results/data/ml-100k/split.h5 200 600

Writes benchmarks/results/steck2020_embeddings.csv: cosines under the constraint diag(UV') = 0 and
under the penalties of Parseval networks, spread-out descriptors and GLaS, the embeddings of Eq. 10
by rank, iterations of Eq. 11, and what overfitting towards the identity costs.
"""

import sys
from pathlib import Path

import pandas as pd

from lindrop.papers.steck2020.popular import experiments

OUTPUT = Path(__file__).resolve().parent / "results" / "steck2020_embeddings.csv"


def main(dataset: str, split: str, items: list[int]) -> None:
    """Write the numbers for each number of items."""
    found = pd.concat([experiments(dataset, split, count) for count in items])
    found.to_csv(OUTPUT, index=False, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [int(count) for count in sys.argv[3:]])
