"""Numbers that others published on Gowalla beside ours: benchmarks/results/published.csv.

    python benchmarks/published.py [models …] [data_dir=FOLDER]

runs `snakemake compare --configfile config/gowalla.yaml` for the named models (ease, full_edlae and
slim unless named), and writes the csv; `benchmarks/real_data.py` writes docs/results.md. Each needs
8 GB of memory and some ten minutes on two cores.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "benchmarks" / "results" / "published.csv"
SPARSE = ROOT / "benchmarks" / "results" / "sparse_models.csv"
METRICS = ["plain_recall@20", "plain_recall@50", "ndcg@20", "ndcg@50", "hit_rate@20", "hit_rate@50"]
TITLES = ["Recall@20", "Recall@50", "nDCG@20", "nDCG@50", "HitRate@20", "HitRate@50"]
BARS = "BARS (reczoo/BARS, matching)"
PUBLISHED = {
    "ease": (BARS, "λ = 80", [0.176493, 0.270126, 0.146657, 0.175974, 0.572677, 0.708051]),
    "full_edlae": (
        "λ and p of jaewan7599/RDLAE_SIGIR2023, computed in float64 by NumPy",
        "λ = 60, p = 0.8",
        [0.184386, 0.280702, 0.153948, 0.184078, 0.587246, 0.721281],
    ),
    "slim": (
        BARS,
        "α = 0.005, l1_ratio = 10⁻⁶, 100 weights an item",
        [0.169876, 0.265777, 0.138218, 0.168666, 0.556434, 0.696028],
    ),
}
# Largest difference that rounding and the solvers explain: scikit-learn ends SLIM's at 1e-4.
TOLERANCES = {"ease": 1e-6, "full_edlae": 1e-5, "slim": 1e-4}
USERS = 29_858
OPTIONS = {  # α of scikit-learn's elastic net is a penalty per user
    "ease": {"lambda": [80]},
    "full_edlae": {"p": [0.8], "lambda": [60]},
    # BARS names α and l1_ratio only; with all weights, Recall@20 is .1793. Implementations by means
    # of scikit-learn usually keep the 100 largest weights of an item.
    "slim": {
        "l1": [USERS * 0.005 * 1e-6],
        "l2": [USERS * 0.005 * (1 - 1e-6)],
        "largest": 100,
    },
}


def run(models: list[str], settings: list[str]) -> None:
    """Compare these models by the workflow, with further settings such as `data_dir=/folder`."""
    asked = {"models": {model: OPTIONS[model] for model in models}, "compare": {"models": models}}
    asked["metrics"] = METRICS
    # In a file: Snakemake takes numbers inside lists of --config for text.
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(asked, file)
        file.flush()
        command = ["snakemake", "--cores", "all", "--configfile", "config/gowalla.yaml", file.name]
        command += ["--config", *settings] if settings else []
        subprocess.run([*command, "--", "results/tables/compare.csv"], cwd=ROOT, check=True)


def beside(table: Path) -> pd.DataFrame:
    """Rows of the csv: every published number beside that of results/tables/compare.csv."""
    ours = pd.read_csv(table).set_index(["model", "metric"])
    return pd.DataFrame(
        {
            "dataset": "gowalla",
            "model": model,
            "metric": metric,
            "published": number,
            "ours": round(float(ours.loc[(model, metric), "mean"]), 8),
            "n_users": int(ours.loc[(model, metric), "n_users"]),
        }
        for model in ours.index.unique("model")
        for metric, number in zip(METRICS, PUBLISHED[model][2], strict=True)
    )


def section(found: pd.DataFrame) -> list[str]:
    """Lines of docs/results.md."""
    lines = [
        "## Published numbers beside ours",
        "",
        "For those who ask whether lindrop computes what others do: metrics that others published",
        "for linear models on Gowalla, split as for LightGCN, beside those of `snakemake compare",
        "--configfile config/gowalla.yaml`. All 29,858 users are trained on and tested; their",
        "training items are masked, and the others of the 40,981 items are ranked.",
        "[The metrics](protocol.md#metrics) called Recall here divide by all held-out items",
        "(`plain_recall`).",
    ]
    for model, (source, options, published) in PUBLISHED.items():
        rows = found[found["model"] == model].set_index("metric")
        theirs = " | ".join(f"{value:.6f}" for value in published)
        lines += [
            "",
            f"### `{model}`, {options}",
            "",
            f"| | {' | '.join(TITLES)} |",
            f"|---|{'---|' * len(TITLES)}",
            f"| published: {source} | {theirs} |",
        ]
        if rows.empty:
            lines += ["", "Not run with lindrop on the whole set yet."]
            continue
        numbers = rows.loc[METRICS, "ours"].to_numpy(float)
        apart = max(abs(a - b) for a, b in zip(numbers, published, strict=True))
        lines += [
            f"| lindrop | {' | '.join(f'{value:.6f}' for value in numbers)} |",
            "",
            f"Largest difference: {apart:.1e}, tested to be at most {TOLERANCES[model]:.0e}.",
        ]
    return [*lines, *on_a_pattern(pd.read_csv(SPARSE, dtype=str))]


def on_a_pattern(found: pd.DataFrame) -> list[str]:
    """Lines of the models with few weights, which nobody has published, from sparse_models.py."""
    shown = ["spread", "neighbours", "plain_recall@20", "ndcg@20", "processor seconds", "peak GB"]
    rows = found[(found["set"] == "gowalla") & (found["model"] == "sparse_edlae")][shown]
    return [
        "",
        "### `sparse_edlae`, λ = 60, p = 0.8",
        "",
        "Nobody has published it. With few weights an item ([scale.md](scale.md)), in seconds and",
        "without X'X, to be read beside the Recall@20 and nDCG@20 above. With a `spread`, items of",
        "more users have more neighbours, and `neighbours` is the mean:",
        "",
        rows.to_markdown(index=False, disable_numparse=True),
    ]


if __name__ == "__main__":
    settings = [word for word in sys.argv[1:] if "=" in word]
    models = [word for word in sys.argv[1:] if "=" not in word] or list(PUBLISHED)
    earlier = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["model"])
    run(models, settings)
    new = beside(ROOT / "results" / "tables" / "compare.csv")
    together = pd.concat([earlier[~earlier["model"].isin(models)], new])
    together.to_csv(FILE, index=False, lineterminator="\n")
