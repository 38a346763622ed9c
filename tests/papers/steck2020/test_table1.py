"""Table 1 of Steck 2020: its arithmetic, and where a paper's number may stand."""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from lindrop.data.provenance import comparable
from lindrop.data.split import Protocol, settings_of
from lindrop.models.base import Fit
from lindrop.models.catalogue import CATALOGUE
from lindrop.output.tables import write_table
from lindrop.papers.steck2020.models import ADDED, DEEP, FITTED, ROWS, TABLE
from lindrop.papers.steck2020.tables import table1
from lindrop.papers.steck2020.tables.table1 import (
    COLUMNS,
    Column,
    Paper,
    warn_of_edges,
)
from lindrop.ranking.metrics import DEFAULT as METRICS
from lindrop.store.metrics import write_metrics
from support.steck2020 import PAPER_VALUES, PUBLISHED_TABLE, USERS, fabricated

ENDS = ("csv", "md", "html", "tex")


@pytest.fixture
def results():
    return {model: fabricated(seed) for seed, model in enumerate(FITTED)}


def one(frame, **where):
    for name, value in where.items():
        frame = frame[frame[name] == value]
    (row,) = frame.to_dict("records")
    return row


def test_csv_has_exactly_these_columns_and_our_numbers(results):
    results["edlae"] = fabricated(99, edge="λ", converged=False, nan=3)
    frame = table1.table([Column("mine", results)])
    assert list(frame) == [
        *("dataset", "model", "row", "metric", "mean", "stderr", "n_users", "paper", "params"),
        *("seconds", "megabytes"),
    ]
    assert list(frame) == COLUMNS
    labels = [*"12345", "baseline", "full rank", "floor", *(["added"] if ADDED else [])]
    assert list(dict.fromkeys(frame["row"])) == labels
    assert list(dict.fromkeys(frame["metric"]))[:3] == ["recall@20", "recall@50", "ndcg@100"]
    assert set(frame["metric"]) == set(METRICS)
    row = one(frame, model="edlae", metric="ndcg@100")
    values = results["edlae"].per_user["ndcg@100"].to_numpy()[3:]
    assert row["mean"] == pytest.approx(values.mean())
    assert row["stderr"] == pytest.approx(values.std() / np.sqrt(USERS - 3))
    assert row["n_users"] == USERS - 3
    assert (row["seconds"], row["megabytes"]) == (1234.56, 789.4)
    text = "rank=150 p=0.35 λ=100 (edge: λ) (not converged) (3 users with nothing held out)"
    assert row["params"] == text


def test_readers_get_the_wide_form_and_programs_the_long_one(results, tmp_path):
    columns = [Column("mine", results)]
    files = {end: str(tmp_path / f"table.{end}") for end in ENDS}
    write_table(table1.table(columns), SimpleNamespace(**files), "Caption", table1.shown(columns))
    text = {end: (tmp_path / f"table.{end}").read_text(encoding="utf-8") for end in files}
    assert text["csv"].startswith(",".join(COLUMNS) + "\n")
    for end in ("md", "html"):
        assert "DLAE, sampled dropout" in text[end]
        assert "rank=150 p=0.35 λ=100" in text[end]
        assert "1,234.6" in text[end]
        assert "789" in text[end]
    assert r"p=0.35 $\lambda$=100" in text["tex"]
    assert not {"±", "λ", "−"} & set(text["tex"]), "pdflatex does not know them"


@pytest.mark.parametrize(
    ("model", "other", "over"),
    [
        ("product_l2", "weight_decay", "row 1"),
        ("dropout_l2", "product_l2", "row 2"),
        ("sampled_dropout", "dropout_l2", "row 3"),
        ("edlae", "dropout_l2", "row 3"),
        ("full_edlae", "full_dlae", "full-rank DLAE"),
    ],
)
def test_gain_is_the_paired_difference(results, model, other, over):
    shown = table1.shown([Column("mine", results)])
    cell = one(shown, model=CATALOGUE[model].title)["gain in nDCG@100"]
    differences = (results[model].per_user - results[other].per_user)["ndcg@100"]
    error = np.sqrt(np.mean((differences - differences.mean()) ** 2) / USERS)
    assert cell.replace("−", "-") == f"{differences.mean():+.4f} ± {error:.4f} over {over}"


def test_paper_stands_only_beside_its_own_dataset(results):
    """None beside a synthetic set; beside a verified one, at the baselines, too."""
    paper = Paper.of(PUBLISHED_TABLE, "Netflix")
    columns = [Column("synthetic", results), Column("netflix", results, paper)]
    frame = table1.table(columns)
    ours, theirs = (frame[frame["dataset"] == name] for name in ("synthetic", "netflix"))
    assert ours["paper"].isna().all()
    row = one(theirs, model="edlae", metric="ndcg@100")
    assert row["paper"] == 0.394
    assert row["params"].endswith("(paper: rank=1000)")
    slim = one(theirs, model="slim", metric="ndcg@100")
    assert (slim["paper"], slim["row"]) == (0.379, "baseline")
    assert slim["params"].endswith("(paper: best of l1, l2 of 0.1, 0.5, 1, 5)")
    assert "paper" not in one(ours, model="slim", metric="ndcg@100")["params"]
    deep = theirs[theirs["model"].isin(DEEP)]
    assert len(deep) == 3 * len(METRICS)
    assert deep[["mean", "stderr", "n_users", "seconds"]].isna().all(axis=None)
    assert set(deep["params"]) == {"not fitted: make deep"}
    assert one(deep, model="mult_vae", metric="recall@50")["paper"] == 0.444

    fitted = results | {model: fabricated(99) for model in DEEP}
    trained = table1.shown([Column("netflix", fitted, paper)])
    ours = fabricated(99).per_user["recall@20"].mean()
    difference = f"{ours - 0.343:+.4f}".replace("-", "−")
    assert f"[0.343; {difference}]" in one(trained, model="CDAE")["Recall@20"]
    stated = {
        "CDAE": "(paper: best of λ of 0.01, 0.1, 1, 10, 100)",
        "Mult-VAE": "0.2 in the code for ML-20M)",
        "Mult-DAE": "(paper: λ=0.01)",
    }
    for title, text in stated.items():
        assert one(trained, model=title)["parameters"].endswith(text)
    without = table1.shown([Column("synthetic", fitted)])
    assert not without["parameters"].str.contains("paper").any()

    shown = table1.shown(columns)
    assert "[" not in shown[shown["dataset"] == "synthetic"].to_csv()
    cell = one(shown, dataset="netflix", model="EDLAE")["nDCG@100"]
    difference = f"{row['mean'] - 0.394:+.4f}".replace("-", "−")
    assert cell == f"{row['mean']:.4f} ± {row['stderr']:.4f} [0.394; {difference}]"
    assert one(shown, dataset="netflix", model="CDAE")["Recall@20"] == "[0.343]"
    assert one(shown, dataset="synthetic", model="CDAE")["Recall@20"] == ""


def test_a_deep_baseline_is_in_the_table_where_it_was_fitted(results, tmp_path):
    """Metrics are read from their files; those that are absent or outdated are missing."""
    metrics = {}
    for model in (*FITTED, "cdae", "mult_vae"):
        metrics[model] = tmp_path / "metrics" / "mine" / f"{model}.h5"
        tested = results.get(model, fabricated(99))
        write_metrics(metrics[model], "mine", model, {150: (tested, Fit(None))}, "made from this")
    states = {"cdae": "made from this", "mult_vae": "made from that"}
    deep = {str(metrics.pop(model)): {"state": state} for model, state in states.items()}
    columns = table1.data(
        [*map(str, metrics.values())],
        ["none"],
        str(PAPER_VALUES / "steck2020_datasets.yaml"),
        str(PAPER_VALUES / "steck2020_table1.yaml"),
        150,
        deep,
        {"mine": None},
    )
    found = table1.table(columns).groupby("model", sort=False).first()
    assert list(found.index) == list(ROWS)
    assert list(ROWS)[: len(TABLE)] == list(TABLE)
    assert found.loc["cdae", "mean"] == pytest.approx(fabricated(99).per_user["recall@20"].mean())
    missing = found.index[found["params"] == "not fitted: make deep"]
    assert list(missing) == ["mult_vae", "mult_dae"]


def test_a_synthetic_source_is_never_the_papers():
    datasets = yaml.safe_load((PAPER_VALUES / "steck2020_datasets.yaml").read_text())
    protocol = Protocol(**datasets["Netflix"]["protocol"])
    assert settings_of(protocol) == datasets["Netflix"]["protocol"]
    assert comparable((None, protocol, {"verified_by": "md5"}), datasets["Netflix"])
    assert not comparable((None, protocol, {"format": "synthetic"}), datasets["Netflix"])


def test_published_table_is_whole():
    """Every dataset has every row; only what is illegible or did not finish is missing."""
    missing = []
    for name in ("ML-20M", "Netflix", "MSD"):
        paper = Paper.of(PUBLISHED_TABLE, name)
        assert [*paper.rows, *paper.reprinted] == list(TABLE)[:10]
        assert {"slim", "wmf", *DEEP} == set(paper.reprinted)
        assert set(paper.stated) == set(paper.reprinted)
        for model, numbers in (paper.rows | paper.reprinted).items():
            assert len(numbers) == 3
            missing += [(name, model)] * numbers.count(None)
            if None not in numbers:
                recall_20, recall_50, ndcg = numbers
                assert recall_20 < ndcg < recall_50
    illegible = [("ML-20M", "weight_decay"), ("ML-20M", "product_l2")]
    assert missing == [*illegible, *[("MSD", "slim")] * 3]


def test_an_edge_is_a_warning_and_a_mark(results, caplog):
    results["edlae"] = fabricated(99, edge="p")
    columns = [Column("mine", results)]
    warn_of_edges(columns)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "mine, edlae: the chosen p is on the edge of its grid" in record.getMessage()
    marked = table1.shown(columns)["parameters"].str.startswith("⚠")
    assert list(np.flatnonzero(marked)) == [list(TABLE).index("edlae")]
