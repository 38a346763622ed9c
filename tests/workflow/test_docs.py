"""Documents say what is: their numbers were printed by a command, their links and examples work."""

import re
import subprocess
import sys

import autoencoders
import dropout_sgd
import edlae_solvers
import limits
import pandas as pd
import paper_scaled
import plan
import pytest
import scale_page
import slim_fraction
import slim_solvers
import startup
from models_at_scale import OUTPUT, summary_table
from rules_at_scale import OUTPUT as RULES
from rules_at_scale import cost_table

from lindrop.claims.verdicts import MEANING, Verdict
from lindrop.planning.plan import duration
from support.documents import python_blocks
from support.repository import REPOSITORY

RESULTS = REPOSITORY / "benchmarks" / "results"
BENCHMARKS = REPOSITORY / "docs" / "benchmarks.md"
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *REPOSITORY.glob("docs/*.md"),
    *REPOSITORY.glob("config/*.md"),
    *REPOSITORY.glob("tests/cluster/*.md"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    for name in re.findall(
        r"`((?:workflow|config|tests|benchmarks|envs)/[\w./-]+)`", page.read_text()
    ):
        if "mine" not in name:
            assert (REPOSITORY / name).exists(), name


def test_numbers_on_data_are_those_of_the_benchmark():
    measured = pd.read_csv(REPOSITORY / "benchmarks" / "results" / "data_at_scale.csv")
    table = measured.drop(columns="cores").to_markdown(index=False, disable_numparse=True)
    assert table in BENCHMARKS.read_text()


@pytest.mark.parametrize("page", scale_page.PAGES, ids=lambda page: page.name)
def test_numbers_on_many_items_are_those_of_the_benchmarks(page):
    tables = scale_page.TABLE.findall(page.read_text())
    assert tables
    for _, name, table, _ in tables:
        assert table == f"{scale_page.shown(name)}\n", name


def words_of(page):
    """The text of a page, however its lines are broken."""
    return " ".join((REPOSITORY / page).read_text().split())


def test_millions_of_items_take_what_the_pages_say():
    found = pd.read_csv(RESULTS / "folder_at_scale.csv")
    found = found[found["step"].isin(["read", "split", "fit"])].groupby("set")
    seconds, memory = found["seconds"].sum(), found["peak GB"].max()
    minutes, most = f"{seconds['10m'] / 60:.0f} minutes", f"{memory['10m']:.0f} GB"
    assert f"in {minutes} and {most} on two cores" in words_of("README.md")
    one = f"one million {seconds['1m']:.0f} seconds and {memory['1m']:.1f} GB"
    assert f"take {minutes} and {most}, {one}" in words_of("docs/scale.md")
    split = pd.read_csv(RESULTS / "folder_at_scale.csv").set_index(["set", "step"]).loc["10m"]
    divided = f"[{split.loc['split', 'peak GB']:.1f} GB of memory]"
    assert f"400 million interactions took {divided}" in words_of("docs/data.md")


def test_a_shard_of_ten_million_items_takes_what_docs_cluster_says():
    found = pd.read_csv(RESULTS / "folder_at_scale.csv").set_index(["set", "step"])
    shard = found.loc["10m", "shard"]
    assert "one of 16 shards" in shard["result"]
    took = f"took {shard['peak GB']:.1f} GB and {shard['seconds']:.0f} seconds"
    assert f"one of 16 shards of ten million items {took}" in words_of("docs/cluster.md")


def test_a_cap_saves_time_where_users_are_very_heavy_and_no_accuracy_is_lost():
    """Bounds that docs/scale.md gives for the default cap of 100, beside one of 3,000."""
    found = pd.read_csv(RESULTS / "pattern_growth.csv")
    found = found[found["series"].str.startswith("cap:")].set_index(["series", "user cap"])
    for series, own in found.groupby(level="series"):
        usual, most = own.loc[(series, 100)], own.loc[(series, 3000)]
        if series == "cap:heavy-users":
            assert usual["seconds"] / most["seconds"] == pytest.approx(3 / 8, abs=0.01)
            assert usual["ndcg@100"] > most["ndcg@100"]
        else:
            assert usual["seconds"] > 0.9 * most["seconds"]
        large = own.loc[[(series, cap) for cap in (100, 200, 400, 1000, 3000)]]
        metric = large["ndcg@100"]
        assert metric.max() - metric.min() < 2 * large["stderr"].min()


def test_half_the_neighbours_with_a_spread_are_better_in_less_time():
    """docs/scale.md says this of all its sets but Last.fm."""
    found = pd.read_csv(RESULTS / "sparse_peers.csv").set_index(["set", "model"])
    gowalla = pd.read_csv(RESULTS / "sparse_models.csv").set_index(["spread", "neighbours"])
    metric, time = "ndcg@100", "processor seconds"
    pairs = [
        (found.loc[name, "sparse_edlae by users, 50"], found.loc[name, "sparse_edlae, 100"])
        for name in ("ml-1m", "generated", "ml-20m-size")
    ]
    for spread, even in [*pairs, (gowalla.loc[0.5, 50], gowalla.loc[0.0, 100])]:
        assert spread[metric] > even[metric]
        assert spread[time] < even[time]
    small = found.loc["lastfm", "standard errors"]
    assert abs(small["sparse_edlae by users, 50"]) < 2
    assert abs(small["sparse_edlae, 100"]) < 2
    generated = found.loc["generated"]
    assert generated.loc["sparse_edlae, 50", metric] > generated.loc["full_edlae", metric]
    for clock in ("seconds", time):
        pattern, dense, others = (
            generated.loc[name, clock]
            for name in ("sparse_edlae, 50", "full_edlae", "irspack's EDLAE")
        )
        assert 10 * pattern < dense
        assert 20 * pattern < others


def test_at_the_size_of_movielens_20m_a_small_pattern_is_better_than_dense_models_in_less_time():
    """Ratios that docs/scale.md gives."""
    found = pd.read_csv(RESULTS / "sparse_peers.csv").query("set == 'ml-20m-size'")
    found = found.set_index("model")
    small, dense = found.loc["sparse_edlae, 20"], found.loc["full_edlae"]
    assert small["standard errors"] > 2
    assert 250 * small["bytes"] < dense["bytes"]
    for clock in ("seconds", "processor seconds"):
        assert 10 * small[clock] < dense[clock]
        assert 20 * small[clock] < found.loc["irspack's EDLAE", clock]
    assert found["ndcg@100"].idxmax() == "sparse_edlae by users, 50"


@pytest.mark.parametrize("name", ["ml-1m", "lastfm"])
def test_a_low_rank_beside_a_pattern_is_the_best_of_its_bytes(name):
    found = pd.read_csv(RESULTS / "sparse_peers.csv").query("set == @name").set_index("model")
    hybrid = found.loc["hybrid_edlae, 50 + 50"]
    others = [
        "sparse_edlae, 100",
        "sparse_edlae by users, 100",
        "edlae, rank 100",
        "SANSA CHOLMOD, 100",
        "SANSA ICF, 100",
    ]
    assert (found.loc[others, "ndcg@100"] < hybrid["ndcg@100"]).all()
    assert list(found.loc[others, "bytes"]) == pytest.approx([hybrid["bytes"]] * 5, rel=0.05)
    assert abs(hybrid["standard errors"]) < 2


@pytest.mark.parametrize("k", [50, 100, 200])
def test_a_spread_is_better_than_a_low_rank_beside_a_pattern_on_gowalla(k):
    found = pd.read_csv(RESULTS / "sparse_peers.csv").set_index(["set", "model"])
    hybrid = found.loc[("gowalla", f"hybrid_edlae, {k // 2} + {k // 2}"), "plain_recall@20"]
    patterns = pd.read_csv(RESULTS / "sparse_models.csv").set_index(["spread", "neighbours"])
    recall = patterns["plain_recall@20"]
    assert recall.loc[0.0, k] < hybrid < recall.loc[0.5, k]


def test_a_whole_run_takes_what_its_jobs_took():
    jobs = pd.read_csv(RESULTS / "ml-1m_jobs.csv")
    said = f"{jobs['processor'].sum():.0f} s of processor time in {len(jobs)} jobs"
    assert said in words_of("docs/performance.md")
    trained = jobs.loc[jobs["job"].str.startswith("steck2020_attribution/"), "processor"].sum()
    assert "a quarter of the time is the trainings as published" in words_of("docs/performance.md")
    assert trained / jobs["processor"].sum() == pytest.approx(0.25, abs=0.02)


def test_the_papers_run_is_planned_as_the_docs_say():
    planned, kept = plan.paper_plan(), pd.read_csv(plan.PAPER)
    pd.testing.assert_frame_equal(plan.totals_of(planned), kept)
    (row,) = kept.to_dict("records")
    spans = {cores: duration(60 * row[f"minutes_{cores}_cores"]) for cores in (2, 8, 64)}
    assert spans[2].endswith(" days")
    said = (
        f"is planned to be {row['jobs']:.0f} jobs and {row['core_hours']:.0f} core hours: "
        f"{spans[2]} on 2 cores, {spans[8].replace(' h', ' hours')} on 8, "
        f"{spans[64].replace(' h', ' hours')} on 64, with {row['memory_gb']} GB of memory for the "
        f"largest job and {row['disk_gb']} GB on disk"
    )
    assert said in words_of("docs/performance.md")


def test_the_papers_run_on_smaller_files_took_what_the_docs_say():
    found = pd.read_csv(paper_scaled.OUTPUT)
    assert set(found["share"]) == {10, 25}
    *_, attribution = found[found["share"] == 25].to_dict("records")
    sets = set(found.loc[found["rule"] == "steck2020_attribution_row", "dataset"])
    assert sets == {"ml-20m", "netflix", "msd"}
    took = (
        f"{attribution['jobs']} jobs and {attribution['processor seconds']:.0f} s of processor time"
    )
    assert f"was run on a twenty-fifth of the users: {took}" in words_of("docs/performance.md")
    *rules, whole = found[found["share"] == 10].to_dict("records")
    assert whole["rule"] == "all rules"
    assert whole["jobs"] == sum(row["jobs"] for row in rules)
    took = sum(row["processor seconds"] for row in rules)
    assert whole["processor seconds"] == pytest.approx(took, abs=0.05 * len(rules))
    said = (
        "a tenth of the users and a twentieth of the items, ten grid points in a job: "
        f"{whole['jobs']:.0f} jobs and {whole['processor seconds']:.0f} s of processor time, "
        f"at most {max(row['peak MB'] for row in rules):.0f} MB in one"
    )
    assert said in words_of("docs/performance.md")


def test_predictions_of_the_plan_are_those_that_were_compared():
    found = pd.read_csv(plan.OUTPUT).set_index(["run", "job"])
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    clock, processor = "all jobs", "all jobs, processor time"
    for run, job in (("default", clock), ("ml-1m", processor), ("ml-1m", clock)):
        row = found.loc[run, job]
        said = f" | {row['predicted']:.0f} | {row['measured']:.0f} | {row['ratio']:.2f} |"
        assert said in page, (run, job)


def test_numbers_on_models_are_those_of_the_benchmark():
    table = summary_table(pd.read_csv(OUTPUT)).to_markdown(index=False, disable_numparse=True)
    assert table in BENCHMARKS.read_text()


MODELS = [
    "precision",
    "precision_sweep",
    "stored_files",
    *(file.stem for file in RESULTS.glob("table1_*.csv")),
]


@pytest.mark.parametrize("name", MODELS)
def test_numbers_on_models_are_those_of_the_runs(name):
    measured = pd.read_csv(RESULTS / f"{name}.csv", dtype=str).fillna("")
    table = measured.to_markdown(index=False, disable_numparse=True)
    assert table in BENCHMARKS.read_text()


def test_numbers_on_slim_are_those_of_the_benchmarks():
    page = BENCHMARKS.read_text()
    share = pd.read_csv(slim_fraction.OUTPUT, dtype=str)[slim_fraction.SHOWN]
    solvers = slim_solvers.summary_table(pd.read_csv(slim_solvers.OUTPUT))
    for table in (share, solvers):
        assert table.to_markdown(index=False, disable_numparse=True) in page
    times = solvers.set_index("solver").astype(float)
    ratios = times.loc["scikit-learn, X'X"] / times.loc["lindrop"]
    assert f"and takes {ratios.min():.0f} to {ratios.max():.0f} times as long" in page


def test_costs_at_published_sizes_are_those_of_the_benchmark_files():
    table = cost_table(pd.read_csv(RULES)).to_markdown(index=False, disable_numparse=True)
    assert table in BENCHMARKS.read_text()


def test_numbers_on_the_solvers_of_edlae_are_those_of_the_benchmark():
    table = edlae_solvers.shown(pd.read_csv(edlae_solvers.OUTPUT))
    assert table.to_markdown(index=False, disable_numparse=True) in BENCHMARKS.read_text()


def test_the_time_before_the_work_is_that_of_the_benchmark():
    table = startup.library_table(pd.read_csv(startup.OUTPUT))
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    assert table.to_markdown(index=False, disable_numparse=True) in page


def test_the_share_of_a_run_that_is_no_work_is_that_of_its_logs():
    found = pd.read_csv(startup.OUTPUT).set_index("what").loc["all jobs"]
    start, whole = found["to start"], found["to start"] + found["to work"]
    said = f"of the {found['jobs']:.0f} jobs of a default run, {start:.0f} s of {whole:.0f} s are"
    assert said in words_of("docs/performance.md")
    assert f"imports, {start / whole:.0%}." in words_of("docs/performance.md").replace(" %", "%")


def test_shares_of_the_limits_are_those_of_the_benchmark():
    measured = pd.read_csv(limits.OUTPUT, dtype=str, keep_default_na=False)
    table = limits.shown(measured).to_markdown(index=False, disable_numparse=True)
    assert table in BENCHMARKS.read_text()


@pytest.mark.parametrize(
    ("page", "name", "shown"),
    [
        ("scale.md", "sparse_models", None),
        ("dropout.md", "mianjy2018_fig3", None),
        ("dropout.md", "mianjy2018_fig3_checks", None),
        ("benchmarks.md", "dropout_times", None),
        ("dropout.md", "pal2020_shallow", None),
        ("dropout.md", "pal2020_fig2", None),
        ("dropout.md", "pretorius2018_mnist", None),
        ("dropout.md", "pretorius2018_mnist_checks", None),
        ("benchmarks.md", "autoencoders", autoencoders.SHOWN),
        ("benchmarks.md", "dropout_sgd", dropout_sgd.SHOWN),
    ],
)
def test_numbers_on_dropout_are_those_of_the_runs(page, name, shown):
    measured = pd.read_csv(REPOSITORY / "benchmarks" / "results" / f"{name}.csv", dtype=str).fillna(
        ""
    )
    table = measured[shown or measured.columns]
    table = table.to_markdown(index=False, disable_numparse=True)
    assert table in (REPOSITORY / "docs" / page).read_text()


def test_numbers_beside_recbole_are_those_of_the_run():
    measured = pd.read_csv(REPOSITORY / "benchmarks" / "results" / "recbole.csv", dtype=str).fillna(
        ""
    )
    table = measured.to_markdown(index=False, disable_numparse=True)
    assert table in BENCHMARKS.read_text()
    off = measured["off by standard errors"].str.split(", ").explode()
    off = off[off != ""]
    assert len(off) == 15
    assert off.astype(float).abs().max() <= 2


def test_the_glossary_explains_the_verdicts_as_the_page_does():
    glossary = (REPOSITORY / "docs" / "glossary.md").read_text()
    rows = [f"| *{verdict}* | {MEANING[verdict]}. |" for verdict in Verdict]
    assert "\n".join(rows) in glossary


def test_numbers_of_the_findings_are_those_of_the_errata():
    readme, errata = ((REPOSITORY / name).read_text() for name in ("README.md", "docs/errata.md"))
    findings = readme[readme.index("## Five findings") :].split("\n\n|")[0]
    found = re.findall(r"^\d\. (.+?)(?=^\d\.|\Z)", findings, re.MULTILINE | re.DOTALL)
    assert len(found) == 5
    for finding in found:
        names = re.findall(r"errata\.md#(e\d+)", finding)
        assert names
        sections = "".join(
            re.search(rf"^### {name.upper()}: .*?(?=^### |^## |\Z)", errata, re.M | re.S)[0]
            for name in names
        )
        plain = re.sub(r"\(docs/[^)]*\)|\[E\d+\]|[A-Z]\w+ (?:2018|2020|[\d.]+\b)", "", finding)
        for number in re.findall(r"\d+(?:\.\d+)?", plain):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", sections), number


def test_links_to_errata_lead_to_their_headings():
    readme, errata = ((REPOSITORY / name).read_text() for name in ("README.md", "docs/errata.md"))
    headings = re.findall(r"^### (.+)$", errata, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}
    for anchor in re.findall(r"errata\.md#([^)]+)\)", readme):
        assert anchor in anchors, anchor


def test_examples_on_dropout_run():
    found = []
    for example in python_blocks(REPOSITORY / "docs" / "dropout.md"):
        command = [sys.executable, "-c", example]
        env = {"PYTHONPATH": str(REPOSITORY / "workflow")}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        found.append(done.stdout.split())
    (value, optimum), (above,), learnt = found
    assert float(value) == pytest.approx(float(optimum))
    assert above == "True"
    assert [float(w) for w in learnt] == pytest.approx([2 / 3] * 3)
