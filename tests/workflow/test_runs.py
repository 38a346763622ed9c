"""A whole run of somebody's own data, and what another run of it makes again."""

import csv
import os
import re
import time

import numpy as np
import pandas as pd
import pytest

from lindrop.claims.check_files import read_checks
from lindrop.linalg.gram import gram_matrix
from lindrop.papers.catalogue import PAPERS, Figure
from lindrop.papers.steck2020.datasets import OTHER_SETS
from lindrop.papers.steck2020.models import DEEP, FITTED
from lindrop.store.gram import read_gram
from lindrop.store.metrics import read_metrics
from lindrop.store.split import read_split_matrix
from support.checks import claims_of
from support.configurations import (
    MINE,
    TABLE,
    TUNE,
    errors,
    rows,
    rules_run,
    threads_of_tuning,
)
from support.project import Project
from support.repository import copy_project


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Somebody's own csv, everything that the default target makes of it."""
    project = Project(copy_project(tmp_path_factory.mktemp("finished")))
    random = np.random.default_rng(1)
    likes = random.random((400, 1)) < random.random((1, 40))  # the more popular, the likelier
    lines = [f"u{user},p{product}" for user, product in np.argwhere(likes ^ likes[:, ::-1])]
    project.write("my.csv", "\n".join(["user_id,product", *lines]))
    project.write("config/mine.yaml", MINE)
    began = time.monotonic()
    project.first_output = Project(project.folder, real=True).ok(RUN_MINE)
    project.seconds = time.monotonic() - began
    return project


def test_the_scorecard_has_every_claim_and_says_what_is_right_instead(finished):
    card = pd.read_csv(finished.path("results/scorecard.csv")).fillna("")
    assert set(card["paper"]) == set(PAPERS)
    wrong = card["verdict"].isin(["corrected", "refuted"])
    accused = {(paper, c.id) for paper in PAPERS for c in claims_of(paper).claims if c.accusation}
    assert set(zip(card.loc[wrong, "paper"], card.loc[wrong, "claim"], strict=True)) == accused
    assert (card.loc[wrong | (card["verdict"] == "reproduced and extended"), "holds"] != "").all()
    assert (card.loc[card["verdict"].str.startswith("not run"), "run"] != "").all()
    summary = finished.path("results/scorecard.md").read_text().splitlines()[2]
    assert summary.startswith(f"{len(card)} claims of {len(PAPERS)} papers: ")
    last = [summary, "All results: results/report/index.html"]
    assert "\n".join(last) in finished.first_output
    library = str(finished.path("workflow"))
    told = finished.ok("python -m lindrop.claims.summary results", PYTHONPATH=library)
    assert told.splitlines() == last
    assert last[1] not in finished.ok(f"{RUN_MINE} --force data")
    page = finished.path("results/report/index.html").read_text()
    assert page.count('<tr class="claim">') == len(card)
    assert "steck2020_fig1_left" in page


RUN_MINE = "snakemake --cores 2 --configfile config/mine.yaml"


@pytest.mark.parametrize("paper", PAPERS)
def test_jobs_compute_every_check_that_a_claim_names_and_no_other(paper, finished):
    """All but checks of figures that the default run does not make, and of the paper's other sets.

    The names of the checks of such a figure begin with its own.
    """
    files = finished.path(f"results/experiments/{paper}").glob("*.json")
    computed = {check.claim for file in files for check in read_checks(file)}
    rows = PAPERS[paper].items()
    named = set(claims_of(paper).checks)
    later = [name for name, row in rows if isinstance(row, Figure) and (row.deep or row.asked)]
    left_out = {check for check in named for name in later if f"{check}_".startswith(f"{name}_")}
    assert len(left_out) >= len(later)
    assert not computed & left_out
    of_other_sets = {OTHER_SETS} & named
    assert not computed & of_other_sets
    assert computed | left_out | of_other_sets == named


def claims_on(page):
    return re.findall(r'<tr class="claim">', page)


def figures_on(page):
    return set(re.findall(r'<figure id="(\w+)"', page))


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_a_paper_has_its_claims_and_figures_and_no_others(paper, finished):
    output = finished.ok(f"{RUN_MINE} -- {paper}")
    assert set(rules_run(output)) <= {f"{paper}_page", paper}
    page = finished.path(f"results/report/{paper}.html").read_text()
    assert len(claims_on(page)) == len(claims_of(paper).claims)
    figures = {name: row for name, row in PAPERS[paper].items() if isinstance(row, Figure)}
    now = {name for name, row in figures.items() if not (row.deep or row.asked)}
    assert figures_on(page) == {f"{paper}_{name}" for name in now}


def test_the_page_of_comparison_has_the_tables_and_no_claims(finished):
    output = finished.ok(f"{RUN_MINE} -- compare")
    made = {"compare_table", "compare_groups_table", "datasets_table", "compare_costs"}
    assert set(rules_run(output)) <= made | {"compare_page", "compare"}
    page = finished.path("results/report/compare.html").read_text()
    assert not claims_on(page)
    assert figures_on(page) == {"dataset_long_tails", "compare_costs"}
    for part in ("compare-mine", "compare_groups", "datasets"):
        assert f'id="{part}"' in page
    assert 'id="steck2020_table1"' not in page, "the data are not the paper's"
    assert re.search(r"is best: nDCG@100 [01]\.\d{4} on 43 test users", page)
    assert not re.search(r"[-−]0\.0000", page.split('id="figures"')[0])
    assert page.index('id="compare-mine"') < page.index('id="figures"') < page.index('id="tables"')


def test_own_data_become_a_table_of_every_model_and_every_figure(finished):
    assert "(100%) done" in finished.first_output
    (row,) = rows(finished).values()
    assert row["dataset"] == "mine"
    assert row["paper_items"] == row["paper_users"] == row["paper_interactions"] == ""
    assert "mine" in finished.path(f"{TABLE}.md").read_text()
    assert r"\begin{tabular}" in finished.path(f"{TABLE}.tex").read_text()
    assert "<td>mine</td>" in finished.path(f"{TABLE}.html").read_text()
    with finished.path("results/tables/steck2020_table1.csv").open() as file:
        results = list(csv.DictReader(file))
    assert {row["model"] for row in results} == {*FITTED, *DEEP}
    fitted = [row for row in results if row["params"] != "not fitted: make deep"]
    assert {row["model"] for row in fitted} == set(FITTED)
    assert all(0 < float(row["mean"]) <= 1 for row in fitted)
    assert all(0 < float(row["seconds"]) < finished.seconds for row in fitted)
    assert all(50 < float(row["megabytes"]) < 5000 for row in fitted)
    assert {row["paper"] for row in results} == {""}
    for name in ("fig1_left", "fig1_center", "fig1_right", "theorem", "admm", "embeddings"):
        for kind in ("png", "pdf", "csv"):
            assert finished.path(f"results/figures/steck2020_{name}.{kind}").stat().st_size > 500


def test_shards_add_up_to_the_whole(finished):
    whole = gram_matrix(read_split_matrix(finished.path("results/data/mine/split.h5"), "train"))
    assert np.array_equal(read_gram(finished.path("results/gram/mine.h5")).matrix, whole)
    assert len(list(finished.path("results/gram").glob("*-of-*"))) == 0


PATTERN = """models:
  sparse_edlae: {neighbours: [7], p: [0.2, 0.5], lambda: [3]}
"""


def test_a_model_joined_from_shards_is_the_same_file(finished):
    """Byte for byte, and nothing is left of the shards."""
    model = "results/models/mine/sparse_edlae.h5"
    finished.write("config/pattern.yaml", MINE.replace("models:\n", PATTERN))
    files, metrics = [], []
    for shards in (1, 3):
        command = f"snakemake {model} --cores 2 --configfile config/pattern.yaml"
        output = finished.ok(f"{command} --config model_shards={shards}")
        assert rules_run(output).count("model_shard") == (shards if shards > 1 else 0)
        assert rules_run(output).count("fit") == 1
        files.append(finished.path(model).read_bytes())
        (tested,) = read_metrics(finished.path(model.replace("models", "metrics"))).values()
        metrics.append(tested)
    assert files[0] == files[1]
    pd.testing.assert_frame_equal(metrics[0].per_user, metrics[1].per_user)
    assert not list(finished.path(model).parent.glob("*-of-*"))


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in finished.ok(RUN_MINE)


def test_a_grid_that_grows_reruns_its_model_alone(finished):
    finished.write("config/more.yaml", MINE.replace("3000]", "3000, 10000]"))
    output = finished.ok("snakemake -n --cores 2 --configfile config/more.yaml")
    assert {"gram", "spectrum"}.isdisjoint(rules_run(output))
    jobs = re.findall(r"rule (tune|fit):(?:\n .*)*?model=(\w+)", output)
    assert {model for _, model in jobs} == {"edlae"}


PAGES = ["index_page", "all"]
TOLD = ["scorecard", *PAGES]
MODELS_TOLD = ["steck2020_experiments", "steck2020_table1", *TOLD]
SLIM = ["tune", "fit", *MODELS_TOLD]
TITLES = ["steck2020_fig1_left", *MODELS_TOLD]
FORMS = ["pretorius2018_dae_vs_wdae", "pretorius2018_checks", *TOLD]  # importers of the module
PRINTED = TITLES  # what shows or checks printed accuracies
# By what is edited: the file, the text to add or a replacement, and the rules that run again.
EDITS = {
    "one model": ("workflow/lindrop/models/slim.py", "z = 1", SLIM),
    "its row": ("workflow/lindrop/models/catalogue.py", ("warm=True", "warm=False"), SLIM),
    "a model's title": ("workflow/lindrop/models/catalogue.py", ('"EDLAE"', '"Edlae"'), TITLES),
    "an option's bound": ("workflow/lindrop/models/options.py", ("minimum=1", "minimum=2"), []),
    "a deep model": ("workflow/lindrop/models/torch/networks.py", "z = 1", []),
    "a docstring": ("workflow/lindrop/models/slim.py", ('"""', '"""Now: '), []),
    "a comment": ("workflow/lindrop/store/hdf5.py", "# why", []),
    "a comment in a script": ("workflow/scripts/gram.py", "# why", []),
    "a paper's mathematics": (
        "workflow/lindrop/papers/pretorius2018/as_printed.py",
        "z = 1",
        FORMS,
    ),
    "a figure": (
        "workflow/lindrop/papers/pal2020/figures/fig4.py",
        "z = 1",
        ["pal2020_fig4", *TOLD],
    ),
    "a figure's label": (
        "workflow/lindrop/papers/catalogue.py",
        ("overlapping blocks", "blocks that overlap"),
        PAGES,
    ),
    "a caption": ("workflow/report/pal2020_fig4.rst", "More.", PAGES),
    "a check": (
        "workflow/lindrop/papers/pal2020/checks/envelope.py",
        "z = 1",
        ["pal2020_checks", *TOLD],
    ),
    "a claim": ("config/claims/pal2020.yaml", "# why", TOLD),
    "a printed number": ("config/paper_values/steck2020_table1.yaml", "# why", PRINTED),
    "the page": ("workflow/lindrop/claims/page.py", "z = 1", PAGES),
    "the page's style": ("workflow/lindrop/templates/page.css", "p { }", PAGES),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_it_concerns(edit, finished):
    name, change, rules = EDITS[edit]
    path = finished.path(name)
    text, times = path.read_text(), path.stat()
    path.write_text(
        text.replace(*change, 1) if isinstance(change, tuple) else f"{text}\n{change}\n"
    )
    try:
        assert path.read_text() != text
        output = finished.ok(f"{RUN_MINE} -n")
    finally:
        path.write_text(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert set(rules_run(output)) == set(rules)
    assert set(re.findall(r"model=(\w+)", output)) == ({"slim"} if "tune" in rules else set())


def test_what_is_reported_is_what_the_validation_users_chose(finished):
    """The best point over all jobs of the grid is chosen, at every rank."""
    trials = [
        pd.read_csv(file) for file in finished.path("results/tuning/mine/edlae").glob("*.csv")
    ]
    assert len(trials) == 2
    trials = pd.concat(trials, ignore_index=True)
    for rank, tested in read_metrics(finished.path("results/metrics/mine/edlae.h5")).items():
        best = trials.loc[trials[trials["rank"] == rank]["ndcg@100"].idxmax()]
        assert tested.parameters == {"p": best["p"], "lambda": best["lambda"]}


def test_every_job_leaves_its_log_and_its_benchmark(finished):
    jobs = set(rules_run(finished.first_output)) - {"all"}
    for kind, end in (("logs", "log"), ("benchmarks", "tsv")):
        files = finished.path(f"results/{kind}").rglob(f"*.{end}")
        stages = {file.relative_to(finished.path(f"results/{kind}")).parts[0] for file in files}
        assert jobs <= {stage.removesuffix(f".{end}") for stage in stages}


def test_the_items_of_a_split_count_and_rerun_nothing(finished):
    planned = TUNE.replace("--cores 5", "--cores 2") % "-n"
    assert "Nothing to be done" in finished.ok(planned)
    assert threads_of_tuning(finished.ok(f"{planned} --forcerun tune")) == 1


def test_the_report_has_every_table_with_its_caption(finished):
    finished.ok("snakemake --cores 1 --configfile config/mine.yaml --report results/report.html")
    report = finished.path("results/report.html").read_text()
    assert "steck2020_table1_datasets" in report
    assert "steck2020_fig1_left" in report
    assert "Dataset properties as in the last rows of Table 1" in report


def test_a_failure_behind_models_stays_a_failure(finished):
    """No older model, table or figure hides that the data behind it are broken now."""
    good = finished.path("my.csv").read_text()
    finished.write("my.csv", good + "\nu1,p2,3")
    for _ in range(2):
        assert len(errors(finished.fails(RUN_MINE))) == 1
    finished.write("my.csv", good)
    assert {"read_interactions", "steck2020_table1"} <= set(
        rules_run(finished.ok(f"{RUN_MINE} -n"))
    )


def test_a_figure_whose_checks_are_lost_is_asked_for_again(finished, tmp_path):
    """A scorecard that was made before does not hide that the figure fails now."""
    project = finished.copy(tmp_path)
    log = project.path("results/logs/mianjy2018_fig3.log")
    log.unlink()
    log.mkdir()  # a folder in the place of the log, so that the job fails
    (log / "file").touch()  # Snakemake would delete an empty folder
    again = "--configfile config/mine.yaml --config 'mianjy2018={runs: 2}'"
    for _ in range(2):
        output = project.fails(f"snakemake --cores 2 results/scorecard.md {again}")
        assert "Error in rule mianjy2018_fig3" in output
