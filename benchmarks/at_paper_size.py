"""Summaries of the figures of the dropout papers, computed at the papers' sizes, as small tables.

    snakemake --cores 2 results/figures/mianjy2018_fig3.pdf --configfile config/dropout.yaml
    snakemake --cores 2 results/figures/pal2020_fig{1,3,4,5,6}.pdf --configfile config/dropout.yaml
    snakemake --cores 2 deep --configfile config/dropout.yaml
    snakemake --cores 2 results/figures/pretorius2018_{relu,supp_fig1}.pdf \\
        --configfile config/dropout.yaml --config 'pretorius2018={images: [mnist]}'
    python benchmarks/at_paper_size.py results mianjy2018_fig3
    python benchmarks/at_paper_size.py results pal2020_shallow
    python benchmarks/at_paper_size.py results pal2020_fig2
    python benchmarks/at_paper_size.py results pretorius2018_mnist

Reads the figure's data, its checks and the times of the jobs; writes benchmarks/results/*.csv.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lindrop.claims.check_files import read_checks
from lindrop.papers.pal2020.figures.fig3 import WHITE

KEPT = Path(__file__).resolve().parent / "results"


def mianjy2018_fig3(results: Path) -> pd.DataFrame:
    """Table with the objective at the end of training for every width r and λ."""
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


def mianjy2018_fig3_curves(results: Path) -> pd.DataFrame:
    """Table of the curves of Figure 3: means over the runs at every checkpoint."""
    data = pd.read_csv(results / "figures" / "mianjy2018_fig3.csv")
    return pd.DataFrame(
        {
            "r": data["width"],
            "λ": data["lam"],
            "step": data["step"],
            "objective": data["objective_mean"].map("{:.4g}".format),
            "variance of importance": data["variance_mean"].map("{:.3g}".format),
        }
    )


def checks_of(results: Path, paper: str, figure: str, claims: Sequence[str]) -> pd.DataFrame:
    """Table of the checks that a figure's job computed for the given claims, claim by claim."""
    found = read_checks(results / "experiments" / paper / f"{figure}.json")
    checks = [check for claim in claims for check in found if check.claim == claim]
    return pd.DataFrame(
        {
            "form": check.form,
            "what": check.what,
            "computed": f"{check.computed:.3g}",
            "required": f"{check.relation} {check.expected:g} ± {check.tolerance:.2g}",
            "outcome": check.verdict,
        }
        for check in checks
    )


def time_of(results: Path, rules: list[str]) -> pd.DataFrame:
    """Table of the time and memory of whole jobs, from Snakemake's benchmark files."""
    files = [results / "benchmarks" / f"{rule}.tsv" for rule in rules]
    times = pd.concat([pd.read_csv(file, sep="\t") for file in files])
    return pd.DataFrame(
        {
            "job": rules,
            "seconds": times["s"].map("{:.0f}".format).to_numpy(),
            "processor seconds": times["cpu_time"].map("{:.0f}".format).to_numpy(),
            "peak MB": times["max_rss"].map("{:.0f}".format).to_numpy(),
        }
    )


def pal2020_fig2(results: Path) -> pd.DataFrame:
    """Table of the final objective, singular values, time and memory of the deep networks."""
    data = pd.read_csv(results / "figures" / "pal2020_fig2.csv")
    rows = []
    for name, table in data.groupby("dataset"):
        curve, spectrum = (
            table[table["panel"] == panel] for panel in ("objective", "singular values")
        )
        ratio = curve["trained"] / curve["theory"]
        distance = (spectrum["trained"] / spectrum["theory"] - 1).abs()
        job = f"{str(name).split()[0]}.tsv"  # the name of an unverified set has a suffix
        time = pd.read_csv(results / "benchmarks" / "pal2020_train" / job, sep="\t")
        rows.append(
            {
                "images": name,
                "steps": len(curve) - 1,
                "objective over bound": f"{ratio.iloc[-1]:.4f}",
                "singular values off by at most": f"{distance.max():.1%}",
                "minutes": f"{time['s'].item() / 60:.1f}",
                "peak GB": f"{time['max_rss'].item() / 1000:.1f}",
            }
        )
    return pd.DataFrame(rows)


SHALLOW = "fig1", "fig3", "fig4", "fig5", "fig6"


def pal2020_shallow(results: Path) -> pd.DataFrame:
    """Table of the objective at the end of every training on Pal 2020's synthetic data.

    The minimum is that of Theorem 2.7 (Figures 1 and 5), Eq. 20 that at the same weights (3 and 6).
    """
    rows = []
    for figure in SHALLOW:
        data = pd.read_csv(results / "figures" / f"pal2020_{figure}.csv")
        data = data[data["scheme"] != WHITE]
        data = data.reindex(columns=data.columns.union(["minimum", "printed"], sort=False))
        for (keep, scheme), curve in data.groupby(["keep", "scheme"], sort=False):
            start, end = curve.iloc[0], curve.iloc[-1]
            above = {
                name: f"{end['deterministic'] / end[column] - 1:.2%}"
                for name, column in (("above the minimum", "minimum"), ("above Eq. 20", "printed"))
                if not curve[column].isna().any()
            }
            rows.append(
                {
                    "figure": figure.removeprefix("fig"),
                    "θ": f"{keep:g}",
                    "scheme": scheme,
                    "iterations": f"{end['iteration']:,.0f}",
                    "objective, start": f"{start['deterministic']:.4g}",
                    "end": f"{end['deterministic']:.4g}",
                }
                | above
            )
    return pd.DataFrame(rows).fillna("")


NETWORKS = {
    "ae": "AE",
    "wdae": "WDAE",
    "dae": "DAE, standard deviation 2",
    "dae_variance": "DAE, variance 2",
}


def pretorius2018_mnist(results: Path) -> pd.DataFrame:
    """Table of the final identity mappings, the authors' in brackets, and of training times."""
    rows = []
    for figure in ("relu", "supp_fig1"):
        data = pd.read_csv(results / "figures" / f"pretorius2018_{figure}.csv")
        ends = data[data["epoch"] == data["epoch"].max()]
        for (activation, kind), modes in ends.groupby(["activation", "kind"], sort=False):
            job = results / "benchmarks" / "pretorius2018_train" / f"mnist.{activation}.{kind}.tsv"
            time = pd.read_csv(job, sep="\t")
            rows.append(
                {"activation": activation, "network": NETWORKS[kind]}
                | {f"mode {mode.mode}": mapping(mode) for mode in modes.itertuples()}
                | {"minutes": f"{time['s'].item() / 60:.0f}"}
            )
    return pd.DataFrame(rows)


def mapping(mode: Any) -> str:
    """Measured mapping of a mode as text, followed by the authors' in brackets if there is one."""
    return f"{mode.mapping:.3f}" + ("" if pd.isna(mode.paper) else f" [{mode.paper:.3f}]")


def of_mianjy2018_fig3(results: Path) -> dict[str, pd.DataFrame]:
    """Tables of Figure 3 of Mianjy 2018, by the name of their csv file."""
    return {
        "mianjy2018_fig3": mianjy2018_fig3(results),
        "mianjy2018_fig3_curves": mianjy2018_fig3_curves(results),
        "mianjy2018_fig3_checks": checks_of(
            results, "mianjy2018", "fig3", ["fig3", "section_6_speed"]
        ),
        "dropout_times": time_of(results, ["mianjy2018_convergence"]),
    }


def of_pal2020_shallow(results: Path) -> dict[str, pd.DataFrame]:
    """Tables of Figures 1 and 3 to 6 of Pal 2020, by the name of their csv file."""
    found = [
        checks_of(results, "pal2020", figure, [figure]).assign(figure=figure[3:])
        for figure in SHALLOW
    ]
    return {
        "pal2020_shallow": pal2020_shallow(results),
        "pal2020_shallow_checks": pd.concat(found, ignore_index=True),
    }


def of_pal2020_fig2(results: Path) -> dict[str, pd.DataFrame]:
    """Table of Figure 2 of Pal 2020, by the name of its csv file."""
    return {"pal2020_fig2": pal2020_fig2(results)}


def of_pretorius2018_mnist(results: Path) -> dict[str, pd.DataFrame]:
    """Tables of the MNIST networks of Pretorius 2018, by the name of their csv file."""
    return {
        "pretorius2018_mnist": pretorius2018_mnist(results),
        "pretorius2018_mnist_checks": checks_of(
            results, "pretorius2018", "relu", ["relu", "relu_ends", "relu_noise", "relu_inputs"]
        ),
    }


if __name__ == "__main__":
    _, folder, figure = sys.argv
    for name, table in globals()[f"of_{figure}"](Path(folder)).items():
        table.to_csv(KEPT / f"{name}.csv", index=False)
