"""A small run and the page of its results."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import yaml
from matplotlib import pyplot as plt

from lindrop.claims.check_files import write_checks
from lindrop.claims.checks import CORRECTED, COUNTEREXAMPLE, at_least, at_most, equal
from support.repository import REPOSITORY

TEMPLATES = REPOSITORY / "workflow" / "lindrop" / "templates"
PUBLISHED = REPOSITORY / "config" / "paper_values" / "steck2020_table1.yaml"
NASTY = "<script>window.hit = 1</script> & 'quotes'"
CHECKS = {
    "pal2020": [
        equal("theorem_1", "distance to the optimum", 1e-12),
        equal("theorem_2", "gap as printed", 0.25),
        equal("theorem_2", "gap as corrected", 0.0, form=CORRECTED),
        at_most("theorem_10", "ratio to the bound", 3.0, 1.0),
        at_most("theorem_10", "ratio to the bound, wider", 4.0, 1.0),
        at_least("theorem_10", "ratio of one matrix", 3.0, 2.0, form=COUNTEREXAMPLE),
    ],
    "steck2020": [
        at_most("rows", NASTY, 0.3, 0.4, data="other"),
        at_most("generated", "on the demo", 0.3, 0.4, data="synthetic"),
    ],
}
CLAIMS = {  # says, checks, and what else a claim has
    "pal2020": {
        "theorem_1": ("Every descent ends at the optimum.", {"figures": ["pal2020_fig1", "gone"]}),
        "theorem_2": (
            "The bound is tight.",
            {"accusation": "E7", "our_copy": "reads r for ρ.", "instead": "It is half as large."},
        ),
        "theorem_10": (
            "Noise has a rank.",
            {
                "accusation": {
                    "quote": "has a rank",
                    "charitable": "Some has.",
                    "fails": "None has.",
                }
            },
        ),
    },
    "steck2020": {
        "rows": (f"Row 5 wins. {NASTY}", {"tables": ["steck2020_table1"]}),
        "generated": ("Row 5 wins on the paper's data.", {"run": "config/paper.yaml"}),
        "absent": ("A deep network does it, too.", {"kind": "figure", "run": "make deep"}),
    },
}
SAYS = [says for claims in CLAIMS.values() for says, _ in claims.values()]
ERRATUM = {
    "kind": "error",
    "where": "Theorem 2",
    "printed": "ρ = r",
    "holds": "ρ < r",
    "quote": f"the rank is ρ = r {NASTY}",
    "charitable": "The rank of most matrices is meant.",
    "fails": "No matrix of the proof has this rank.",
    "checks": ["theorem_2"],
}
TABLE1 = """dataset,model,row,metric,mean,stderr,n_users,paper,params
demo,edlae,5,ndcg@100,0.51849,0.002,100,,rank=150 p=0.2 λ=300
ml,edlae,5,ndcg@100,0.4198,0.001,100,0.42,rank=1000
ml,cdae,baseline,ndcg@100,0.4175,0.001,100,0.418,λ=0.1
"""
BENCHMARK = "s\th:m:s\tmax_rss\tcpu_time\n{}\t0:00:01\t{}\t{}\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def claims_file(folder, paper):
    plain = {"where": "Theorem 1", "kind": "theorem", "tolerance": 10}
    claims = {
        name: plain | {"where": name.replace("_", " "), "says": says, "checks": [name]} | more
        for name, (says, more) in CLAIMS[paper].items()
    }
    content = {"title": f"On {paper}", "authors": "A. Author", "venue": "Somewhere 2020"}
    errata = {"E7": ERRATUM} if paper == "pal2020" else {}
    text = yaml.safe_dump(content | {"claims": claims, "errata": errata}, sort_keys=False)
    return write(folder / f"{paper}.yaml", text)


def drawing(results, name):
    png = results / "figures" / f"{name}.png"
    png.parent.mkdir(parents=True, exist_ok=True)
    plt.imsave(png, np.full((600, 1350), sum(name.encode()) % 256), vmin=0, vmax=255)
    write(png.with_suffix(".csv"), f"{name}\n" + "1.5\n" * 1000)
    return png


def a_run(folder):
    """What the script gets after a small run."""
    results = folder / "results"
    for paper, checks in CHECKS.items():
        write_checks(results / "experiments" / paper / "checks.json", checks)
    write(results / "benchmarks" / "fit" / "demo" / "a.tsv", BENCHMARK.format(100, 20.5, 50))
    write(results / "benchmarks" / "fit" / "demo" / "b.tsv", BENCHMARK.format(1, 500.0, 3))
    write(results / "benchmarks" / "fast.tsv", BENCHMARK.format(0.1, "-", "NA"))
    shown = [drawing(results, name) for name in ("data_tails", "pal2020_fig1", "pal2020_fig3")]
    table = write(results / "tables" / "steck2020_table1.csv", TABLE1).with_suffix(".html")
    config = {
        "seed": 7,
        "criterion": "ndcg@100",
        "datasets": {"demo": {"source": {"format": "synthetic"}}},
    }
    inputs = SimpleNamespace(
        claims=[claims_file(folder / "claims", paper) for paper in CLAIMS],
        schema=REPOSITORY / "workflow" / "lindrop" / "schemas" / "claims.schema.yaml",
        captions=[write(folder / "pal2020_fig1.rst", "The ``gain`` of\n<b>it</b>.")],
        checks=sorted(map(str, results.glob("experiments/*/*.json"))),
        printed=PUBLISHED,
        templates=[str(TEMPLATES / "page.html.j2")],
    )
    titles = {str(file): f"Title of {file.stem}" for file in (*shown, table)}
    return SimpleNamespace(
        input=inputs,
        params=SimpleNamespace(
            titles=titles,
            deep={},
            benchmarks=str(results / "benchmarks"),
            config=yaml.safe_dump(config),
        ),
        output=[str(results / "report" / "index.html")],
        log=[str(folder / "page.log")],
    )


def made(folder):
    """The page of a small run."""
    job = a_run(folder)
    runpy.run_path(
        str(REPOSITORY / "workflow" / "scripts" / "page.py"), init_globals={"snakemake": job}
    )
    return Path(job.output[0])
