"""A new model, and a new metric, by the steps of CONTRIBUTING.md in a copy of the project."""

import json
import re
import shutil

import h5py
import numpy as np
import pandas as pd
import pytest

from lindrop.models.catalogue import CATALOGUE
from lindrop.papers.steck2020.models import FITTED
from lindrop.ranking.metrics import METRICS
from support.configurations import SMALL, rules_run
from support.copies import Extension

TABLE = "results/tables/steck2020_table1"
MODEL = '''"""Item neighbours: the share that an item has in another one's co-occurrences."""

import numpy as np

from lindrop.models.base import Fit, FullRank, Training


def fit_neighbours(data: Training, power: float, ridge: float) -> Fit:
    """B_ij = G_ij^power / (Σ_k G_kj^power + λ), without the diagonal."""
    matrix = data.read_gram(data.dtype)
    np.fill_diagonal(matrix, 0)
    matrix **= power
    return Fit(FullRank(matrix / (matrix.sum(axis=0) + ridge)))
'''
ROW = """    "neighbours": Entry(
        "item neighbours",
        "neighbours:fit_neighbours",
        "Shares of co-occurrences.",
        {
            "power": Option("Powers of the co-occurrences.", [1, 2], above=0),
            "lambda": LAMBDA([0.5, 50]),
        },
    ),
"""
MODEL_TEST = """import numpy as np
import pytest

from lindrop.models.catalogue import fit
from support.objectives import training


@pytest.mark.parametrize("power", [1, 2])
def test_neighbours_share_at_most_all(power):
    matrix = fit("neighbours", training(), power=power, ridge=2.0).model.matrix
    assert (matrix.sum(axis=0) < 1).all()
    assert not matrix.diagonal().any()
"""
CATALOGUE_FILE = "workflow/lindrop/models/catalogue.py"
METRICS_FILE = "workflow/lindrop/ranking/metrics.py"


@pytest.fixture
def extension(project):
    project.write("config/small.yaml", f"{SMALL}\nrank: 8\nranks: [8]\n")
    return Extension(project)


def snakemake(extension, arguments):
    return extension.project.ok(f"snakemake --cores 2 {arguments} --configfile config/small.yaml")


def rows_of_table(extension, models):
    """Table 1, made from the metrics of one model as if they were those of all `models`."""
    folder = extension.project.path("results/metrics/small")
    (found,) = folder.glob("*.h5")
    for model in models:
        if model != found.stem:
            shutil.copy(found, folder / f"{model}.h5")
    snakemake(extension, f"{TABLE}.csv --allowed-rules steck2020_table1")
    return pd.read_csv(extension.project.path(f"{TABLE}.csv"))


def test_a_model_is_one_module_and_one_row(extension):
    extension.add("workflow/lindrop/models/neighbours.py", MODEL)
    extension.insert(CATALOGUE_FILE, ROW, before="}\nTORCH = ")
    extension.add("tests/models/test_neighbours.py", MODEL_TEST)
    assert len(extension.files) == 3

    extension.python("-m lindrop.workflow.config_docs")  # make docs
    documented = extension.project.path("config/README.md").read_text()
    section = documented.partition("## `models.neighbours`")[2].partition("\n## ")[0]
    assert "| `power` | a list of numbers, greater than 0 | `[1, 2]` | Powers of the co-" in section
    chosen = "neighbours or readme or models or schema or option"
    passed = extension.tests(
        "tests/models/test_neighbours.py",
        "tests/models/test_catalogue.py",
        "tests/workflow/test_config.py",
        f"-k '{chosen}'",
    )
    assert int(re.search(r"(\d+) passed", passed)[1]) > 10

    # both values of both options are tried, the best point is tested and kept
    jobs = rules_run(snakemake(extension, "results/metrics/small/neighbours.h5"))
    assert {"tune", "fit"} <= set(jobs)
    trials = pd.read_csv(extension.project.path("results/tuning/small/neighbours/0.csv"))
    assert len(trials) == 4
    assert trials["ndcg@100"].between(0.05, 1).all()
    assert extension.project.path("results/models/small/neighbours.h5").exists()

    table = rows_of_table(extension, [*FITTED, "neighbours"])
    assert list(table["model"])[-3:] == ["neighbours"] * 3
    own = table[table["model"] == "neighbours"].set_index("metric")
    assert set(own["row"]) == {"added"}
    best = trials.loc[trials["ndcg@100"].idxmax()]
    assert own["params"].str.startswith(f"power={best['power']:g} λ={best['lambda']:g}").all()
    assert own["mean"].between(0.05, 1).all()
    page = extension.project.path(f"{TABLE}.html").read_text()
    assert "<td>item neighbours</td>" in page


PLAIN = '''def plain_recall(gains: Floats, wanted: Counts, depth: int) -> Floats:
    """Share of the held-out items among the first `depth`."""
    return np.count_nonzero(gains[:, :depth], axis=1) / wanted


'''
ENTRY = '    "plain_recall@2": Metric("plain Recall@2", partial(plain_recall, depth=2)),\n'
ON_THE_PAGE = """-c '
from lindrop.base.yaml_files import read_yaml
from lindrop.papers.steck2020.beside import beside
published = read_yaml("config/paper_values/steck2020_table1.yaml")
print(beside("%s.csv", published, {"small"}).metrics)'"""


def test_a_metric_is_one_entry_and_may_be_what_tuning_goes_by(extension):
    extension.insert(METRICS_FILE, PLAIN, before="METRICS = {")
    extension.insert(METRICS_FILE, ENTRY, before="}\nCRITERION = ")
    extension.replace(METRICS_FILE, 'CRITERION = "ndcg@100"', 'CRITERION = "plain_recall@2"')
    assert extension.files == [METRICS_FILE]
    known = [*METRICS, "plain_recall@2"]

    snakemake(extension, "results/metrics/small/ease.h5")
    trials = pd.read_csv(extension.project.path("results/tuning/small/ease/0.csv"))
    assert len(trials) == len(CATALOGUE["ease"].options["lambda"].default)
    assert set(known) <= set(trials)
    best = trials.loc[trials["plain_recall@2"].idxmax()]
    with h5py.File(extension.project.path("results/metrics/small/ease.h5")) as file:
        assert list(file.attrs["metrics"]) == known
        (fitted,) = file.values()
        assert json.loads(fitted.attrs["parameters"]) == {"lambda": best["lambda"]}
        per_user = fitted["per_user"][:]
    assert per_user.shape == (50, len(known))

    table = rows_of_table(extension, FITTED)
    own = table[table["model"] == "ease"].set_index("metric")["mean"]
    assert list(own.index) == ["recall@20", "recall@50", "ndcg@100", "plain_recall@2"]
    assert own["plain_recall@2"] == pytest.approx(np.nanmean(per_user[:, -1]))
    assert 0.02 < own["plain_recall@2"] < own["recall@20"] <= 1
    shown = extension.project.path(f"{TABLE}.html").read_text()
    assert "<th>plain Recall@2</th>" in shown
    assert "<th>gain in plain Recall@2</th>" in shown
    assert "'plain_recall@2': 'plain Recall@2'" in extension.python(ON_THE_PAGE % TABLE)
