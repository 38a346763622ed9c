"""What CONTRIBUTING.md describes, done in a copy of the project, and how many files it takes.

A model, a metric, a figure of a paper, and a paper.
"""

import json
import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest

from lindrop.claims.check_files import read_checks
from lindrop.models.catalogue import CATALOGUE
from lindrop.papers.steck2020.models import FITTED
from lindrop.ranking.metrics import DEFAULT
from lindrop.store.seal import seal
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
    project.write("config/small.yaml", f"{SMALL}\nrank: 8\nranks: [8]\ntuning: grid\n")
    return Extension(project)


def snakemake(extension, arguments):
    return extension.project.ok(f"snakemake --cores 2 {arguments} --configfile config/small.yaml")


def rows_of_table(extension, models):
    """Table 1, made from the metrics of one model as if they were those of all `models`."""
    folder = extension.project.path("results/metrics/small")
    (found,) = folder.glob("*.h5")
    for model in models:
        if model != found.stem:
            copied = shutil.copy(found, folder / f"{model}.h5")
            with h5py.File(copied, "r+") as file:
                file.attrs["model"] = model
            seal(Path(copied), {})
    snakemake(extension, f"{TABLE}.csv --allowed-rules steck2020_table1")
    return pd.read_csv(extension.project.path(f"{TABLE}.csv"))


def test_a_model_is_one_module_and_one_row(extension):
    extension.add("workflow/lindrop/models/neighbours.py", MODEL)
    extension.insert(CATALOGUE_FILE, ROW, before="}\nTORCH = ")
    extension.add("tests/models/test_neighbours.py", MODEL_TEST)
    assert len(extension.files) == 3

    extension.python("-m lindrop.configuration.config_docs")  # make docs
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


FIRST = '''def first_half(gains: Floats, wanted: Counts, k: int) -> Floats:
    """Share of the held-out items among the first k // 2."""
    return hits(gains, k // 2) / wanted


'''
ENTRY = '    "first_half": Kind("first half Recall", first_half),\n'
ON_THE_PAGE = """-c '
from lindrop.base.yaml_files import read_yaml
from lindrop.papers.steck2020.table1_comparison import beside
published = read_yaml("config/paper_values/steck2020_table1.yaml")
print(beside("%s.csv", published, {"small"}).metrics)'"""


def test_a_metric_is_one_entry_and_may_be_what_tuning_goes_by(extension):
    extension.insert(METRICS_FILE, FIRST, before="@dataclass(frozen=True)\nclass Kind:")
    extension.insert(METRICS_FILE, ENTRY, before='    "novelty": Kind(')
    assert extension.files == [METRICS_FILE]
    settings = "metrics: [recall@20, first_half@4]\ncriterion: first_half@4\n"
    extension.project.write(
        "config/small.yaml", f"{SMALL}\nrank: 8\nranks: [8]\ntuning: grid\n{settings}"
    )
    known = ["recall@20", "first_half@4", "ndcg@100", "recall@50"]

    snakemake(extension, "results/metrics/small/ease.h5")
    trials = pd.read_csv(extension.project.path("results/tuning/small/ease/0.csv"))
    assert len(trials) == len(CATALOGUE["ease"].options["lambda"].default)
    assert {*DEFAULT, "first_half@4"} <= set(trials)
    best = trials.loc[trials["first_half@4"].idxmax()]
    with h5py.File(extension.project.path("results/metrics/small/ease.h5")) as file:
        assert list(file.attrs["metrics"]) == known
        (fitted,) = file.values()
        assert json.loads(fitted.attrs["parameters"]) == {"lambda": best["lambda"]}
        per_user = fitted["per_user"][:]
    assert per_user.shape == (50, len(known))

    table = rows_of_table(extension, FITTED)
    own = table[table["model"] == "ease"].set_index("metric")["mean"]
    assert list(own.index) == ["recall@20", "recall@50", "ndcg@100", "first_half@4"]
    assert own["first_half@4"] == pytest.approx(np.nanmean(per_user[:, 1]))
    assert 0.02 < own["first_half@4"] < own["recall@20"] <= 1
    shown = extension.project.path(f"{TABLE}.html").read_text()
    assert "<th>first half Recall@4</th>" in shown
    assert "<th>gain in first half Recall@4</th>" in shown
    assert "'first_half@4': 'first half Recall@4'" in extension.python(ON_THE_PAGE % TABLE)


FIGURE = '''"""Shrinkage of singular values by dropout: Theorem 3.6 of Mianjy 2018 for r = 1."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check, equal
from lindrop.output.figures import panels


def data(seed: int) -> pd.DataFrame:
    """Singular values of a random M, and those of the best product for several λ."""
    values = np.sort(np.random.default_rng(seed).exponential(size=5))[::-1]
    return pd.concat(
        pd.DataFrame({"lam": lam, "value": values, "best": shrunk(values, lam)})
        for lam in (0.0, 0.5, 2.0)
    )


def shrunk(values: np.ndarray, lam: float) -> np.ndarray:
    """One hidden node keeps the largest value alone, divided by 1 + λ."""
    return np.where(values == values.max(), values / (1 + lam), 0.0)


def draw(data: pd.DataFrame) -> Figure:
    """A curve for every λ."""
    figure, (axis,) = panels(1)
    for lam, case in data.groupby("lam"):
        axis.plot(case["value"], case["best"], "o", label=f"λ = {lam:g}")
    axis.legend()
    return figure


def checks(data: pd.DataFrame) -> list[Check]:
    """The largest value is divided by 1 + λ."""
    largest = data.groupby("lam").first()
    apart = (largest["value"] / largest["best"] - largest.index - 1).abs().max()
    return [equal("shrinkage", "largest value over the best, less 1 + λ", apart)]
'''
CLAIM = """  shrinkage:
    where: Theorem 3.6
    kind: theorem
    says: One hidden node keeps the largest singular value alone, divided by 1 + λ.
    checks: [shrinkage]
    tolerance: 1.0e-9
    figures: [mianjy2018_shrinkage]
"""
FIGURE_TEST = """from lindrop.papers.mianjy2018.figures import shrinkage


def test_the_check_holds_and_fails_of_other_values():
    data = shrinkage.data(1)
    assert all(check.holds for check in shrinkage.checks(data))
    assert not any(check.holds for check in shrinkage.checks(data.assign(best=data["value"])))
"""
PAPERS_FILE = "workflow/lindrop/papers/catalogue.py"
CLAIMS_FILE = "config/claims/mianjy2018.yaml"


def test_a_figure_is_one_module_one_row_and_one_caption(extension):
    extension.add("workflow/lindrop/papers/mianjy2018/figures/shrinkage.py", FIGURE)
    row = '        "shrinkage": Figure("Theorem 3.6", "shrinkage", ("seed",)),\n'
    extension.insert(PAPERS_FILE, row, before='    },\n    "pal2020": {')
    extension.add("workflow/report/mianjy2018_shrinkage.rst", "Theorem 3.6 of Mianjy 2018.\n")
    extension.insert(CLAIMS_FILE, CLAIM, before="\nerrata:")
    extension.add("tests/papers/mianjy2018/test_shrinkage.py", FIGURE_TEST)
    assert len(extension.files) == 5

    output = snakemake(extension, "results/figures/mianjy2018_shrinkage.pdf")
    assert rules_run(output) == ["mianjy2018_shrinkage"]
    for end in ("png", "pdf", "csv"):
        assert extension.project.path(f"results/figures/mianjy2018_shrinkage.{end}").exists()
    drawn = pd.read_csv(extension.project.path("results/figures/mianjy2018_shrinkage.csv"))
    assert drawn["lam"].unique().tolist() == [0, 0.5, 2]
    file = extension.project.path("results/experiments/mianjy2018/shrinkage.json")
    (check,) = read_checks(file)
    assert (check.claim, check.verdict) == ("shrinkage", "holds")

    extension.project.path("results/figures/mianjy2018_shrinkage.pdf").unlink()
    for target in ("mianjy2018", "all"):
        assert "mianjy2018_shrinkage" in rules_run(snakemake(extension, f"-n {target}"))
    chosen = "figure or every_claim or shrinkage or holds"
    tests = "tests/papers/mianjy2018/test_shrinkage.py tests/claims/test_assess.py"
    assert int(re.search(r"(\d+) passed", extension.tests(tests, f"-k '{chosen}'"))[1]) > 5


PATH = '''"""Path of ridge regression with one feature, the only figure."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lindrop.claims.checks import Check, at_most
from lindrop.output.figures import panels


def data() -> pd.DataFrame:
    """The coefficient for every λ."""
    lam = np.linspace(0, 5, 11)
    return pd.DataFrame({"lam": lam, "coefficient": 1 / (1 + lam)})


def draw(data: pd.DataFrame) -> Figure:
    """The coefficient against λ."""
    figure, (axis,) = panels(1)
    axis.plot(data["lam"], data["coefficient"])
    return figure


def checks(data: pd.DataFrame) -> list[Check]:
    """Whether the coefficient falls as λ grows."""
    rise = data["coefficient"].diff().max()
    return [at_most("path", "largest rise of the coefficient", rise, 0)]
'''
LIMITS = '''"""Ridge regression without a penalty."""

import numpy as np

from lindrop.claims.checks import Check, equal


def checks(seed: int) -> list[Check]:
    """Whether λ = 0 is least squares."""
    x, y = np.random.default_rng(seed).normal(size=(2, 20))
    ridge, least = (x @ y) / (x @ x + 0.0), np.linalg.lstsq(x[:, None], y)[0].item()
    return [equal("no_penalty", "coefficient less that of least squares", ridge, least)]
'''
PAPER_CLAIMS = """title: On ridges
authors: A. Author
venue: Somewhere 2000
claims:
  path:
    where: Figure 1
    kind: figure
    says: The coefficient falls as the penalty grows.
    checks: [path]
    tolerance: 0
    figures: [ridge2000_path]
  no_penalty:
    where: Equation 1
    kind: equation
    says: Without a penalty it is least squares.
    checks: [no_penalty]
    tolerance: 1.0e-9
errata: {}
"""


def test_a_paper_is_a_folder_its_claims_and_one_entry(extension):
    folder = "workflow/lindrop/papers/ridge2000"
    extension.add(f"{folder}/__init__.py", '"""The experiments of Ridge 2000, and its claims."""\n')
    extension.add(f"{folder}/figures/path.py", PATH)
    extension.add(f"{folder}/checks/limits.py", LIMITS)
    extension.add("workflow/report/ridge2000_path.rst", "Figure 1 of Ridge 2000.\n")
    extension.add("config/claims/ridge2000.yaml", PAPER_CLAIMS)
    entry = '    "ridge2000": {\n        "path": Figure("Figure 1", "the path"),\n    },\n'
    extension.insert(PAPERS_FILE, entry, before="}\n\n\ndef module_of")
    assert len(extension.files) == 6

    jobs = rules_run(snakemake(extension, "ridge2000"))
    assert sorted(jobs) == ["ridge2000", "ridge2000_checks", "ridge2000_page", "ridge2000_path"]
    page = extension.project.path("results/report/ridge2000.html").read_text()
    assert page.count('<tr class="claim">') == 2
    assert re.findall(r'<figure id="(\w+)"', page) == ["ridge2000_path"]
    assert "Figure 1 of Ridge 2000." in page
    assert "Ridge 2000" in page
    for name in ("checks", "path"):
        file = extension.project.path(f"results/experiments/ridge2000/{name}.json")
        assert all(check.holds for check in read_checks(file))

    forced = "ridge2000_path ridge2000_checks"
    planned = rules_run(snakemake(extension, f"-n all --forcerun {forced}"))
    assert {*forced.split(), "scorecard", "index_page"} <= set(planned)
    assert int(re.search(r"(\d+) passed", extension.tests("tests/claims/test_assess.py"))[1]) > 30

    # a claim that is misspelt is told in one line
    extension.replace("config/claims/ridge2000.yaml", "checks: [path]", "checks: [pathway]")
    told = extension.project.fails("snakemake --cores 2 ridge2000 --configfile config/small.yaml")
    assert "path.json: no claim in config/claims/ridge2000.yaml names path" in told
    assert "Traceback" not in told
