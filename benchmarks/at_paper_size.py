"""The figures of the dropout papers at the papers' sizes, in numbers small enough to be kept.

    snakemake --cores 2 results/figures/mianjy2018_fig3.pdf --configfile config/dropout.yaml
    PYTHONPATH=workflow python benchmarks/at_paper_size.py results

Reads the figures' data and the checks beside them; writes benchmarks/results/<figure>.csv.
"""

import sys
from pathlib import Path

import pandas as pd

from lindrop.store.checks import read_checks

KEPT = Path(__file__).resolve().parent / "results"


def mianjy2018_fig3(results: Path) -> pd.DataFrame:
    """Where every setting ends."""
    data = pd.read_csv(results / "figures" / "mianjy2018_fig3.csv")
    ends = data.groupby(["width", "lam"], as_index=False).last()
    start = data.groupby(["width", "lam"], as_index=False).first()
    return pd.DataFrame(
        {
            "r": ends["width"],
            "λ": ends["lam"],
            "runs": ends["runs"],
            "optimum": ends["optimum"].map("{:.4f}".format),
            "objective": ends["objective_mean"].map("{:.4f}".format),
            "gap": ends["final_gap"].map("{:.2%}".format),
            "variance, end/start": (ends["variance_mean"] / start["variance_mean"]).map(
                "{:.2%}".format
            ),
        }
    )


def checks_of(results: Path, paper: str, figure: str) -> pd.DataFrame:
    checks = read_checks(results / "experiments" / paper / f"{figure}.json")
    return pd.DataFrame(
        {
            "form": check.form,
            "what": check.what,
            "computed": f"{check.computed:.3g}",
            "asked": f"{check.relation} {check.expected:g} ± {check.tolerance:.2g}",
            "verdict": check.verdict,
        }
        for check in checks
    )


def time_of(results: Path, rules: list[str]) -> pd.DataFrame:
    """What Snakemake's benchmark files say of whole jobs."""
    files = [results / "benchmarks" / f"{rule}.tsv" for rule in rules]
    times = pd.concat([pd.read_csv(file, sep="\t") for file in files])
    return pd.DataFrame(
        {
            "job": rules,
            "seconds": times["s"].map("{:.0f}".format).to_numpy(),
            "of the processor": times["cpu_time"].map("{:.0f}".format).to_numpy(),
            "peak MB": times["max_rss"].map("{:.0f}".format).to_numpy(),
        }
    )


if __name__ == "__main__":
    results = Path(sys.argv[1])
    mianjy2018_fig3(results).to_csv(KEPT / "mianjy2018_fig3.csv", index=False)
    time_of(results, ["mianjy2018_convergence"]).to_csv(KEPT / "dropout_times.csv", index=False)
    checks_of(results, "mianjy2018", "fig3").to_csv(
        KEPT / "mianjy2018_fig3_checks.csv", index=False
    )
