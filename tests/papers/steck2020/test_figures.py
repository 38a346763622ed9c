"""The table and figures of Steck 2020: their arithmetic, and where a paper's number may stand."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import yaml

from lindrop.base.errors import UserError
from lindrop.base.stopwatch import Cost
from lindrop.data.provenance import comparable
from lindrop.data.split import LeaveLast, Protocol, settings_of, split
from lindrop.linalg.gram import gram_matrix
from lindrop.models import tuning
from lindrop.models.base import Fit, FullRankModel, LowRank, Training
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.output.tables import write_table
from lindrop.papers.steck2020.figures import admm, embeddings, fig1_left
from lindrop.papers.steck2020.figures.admm import Comparison
from lindrop.papers.steck2020.figures.fig1_center import (
    BALANCED,
    GAUGE_ITEMS,
    PUBLISHED,
    SIMILAR,
    SOLVER,
    draw_similarities,
    gauges,
    median_cosines,
    published_end,
    similar_items,
    similarities,
)
from lindrop.papers.steck2020.figures.fig1_left import curves
from lindrop.papers.steck2020.models import ADDED, CURVES, DEEP, FIGURE_MODELS, FITTED, ROWS, TABLE
from lindrop.papers.steck2020.popular import Popular
from lindrop.papers.steck2020.spread import penalties, train
from lindrop.papers.steck2020.tables import table1
from lindrop.papers.steck2020.tables.table1 import (
    COLUMNS,
    Column,
    Paper,
    warn_of_edges,
)
from lindrop.ranking.evaluation import paired
from lindrop.ranking.metrics import DEFAULT as METRICS
from lindrop.store.metrics import write_metrics
from lindrop.store.model import SavedModel
from lindrop.store.split import write_split
from support.repository import REPOSITORY
from support.splits import interactions_of, random_split

PAPER_VALUES = REPOSITORY / "config" / "paper_values"
PUBLISHED_TABLE = yaml.safe_load((PAPER_VALUES / "steck2020_table1.yaml").read_text())
USERS = 50
ENDS = ("csv", "md", "html", "tex")


def fabricated(seed, rank=150, edge="", converged=True, nan=0):
    per_user = np.random.default_rng(seed).random((USERS, len(METRICS)))
    per_user[:nan] = np.nan
    point, cost = {"p": 0.35, "lambda": 100.0}, Cost(1234.56, 789.4)
    table = pd.DataFrame(per_user, columns=METRICS)
    return tuning.Tested(rank, point, edge, converged, table, cost)


@pytest.fixture
def results():
    return {model: fabricated(seed) for seed, model in enumerate(FITTED)}


@pytest.fixture(scope="module")
def x():
    """Items in groups that users like together."""
    rng = np.random.default_rng(0)
    taste = rng.random((400, 4)) < 0.4
    group = np.arange(60) % 4
    liked = rng.random((400, 60)) < np.where(taste[:, group], 0.4, 0.05)
    return sp.csr_array(liked.astype(np.float32))


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


def test_curves_end_at_the_full_rank_model_they_tend_to():
    results = {
        name: {rank: fabricated(rank, rank) for rank in ((10, 30) if name in CURVES else (60,))}
        for name in FIGURE_MODELS
    }
    results["edlae"][10] = fabricated(1, 10, converged=False)
    data = curves("mine", results)
    assert list(data["rank"]) == [10, 30, 60] * len(CURVES)
    ends = data[data["full_rank"]].set_index("curve")["model"]
    assert dict(ends) == {
        "edlae": "full_edlae",
        "zero_diagonal": "full_edlae",
        "zero_diagonal_l2": "ease",
        "product_l2": "full_l2",
        "dropout_l2": "full_dlae",
    }
    assert list(data.loc[~data["converged"], ["curve", "rank"]].iloc[0]) == ["edlae", 10]
    assert data["paper"].isna().all()
    lead = data[(data["curve"] == "product_l2") & (data["rank"] == 10)].iloc[0]
    pair = (results[name][10].per_user for name in ("edlae", "product_l2"))
    assert lead["lead_stderr"] == paired(*pair).loc["ndcg@100", "stderr"] > 0
    assert (data.loc[data["curve"] == "edlae", "lead_stderr"] == 0).all()
    assert (data["users"] == len(results["edlae"][10].per_user)).all()
    four = pd.concat([data.assign(dataset=name) for name in "abcd"])
    visible = [axis for axis in fig1_left.draw(four).axes if axis.axison]
    assert [axis.get_title(loc="left") for axis in visible] == list("abcd")


def test_the_papers_values_stand_beside_ours_at_the_rank_of_its_table():
    results = {
        name: {rank: fabricated(1, rank) for rank in ((100, 1_000) if name in CURVES else (9_000,))}
        for name in FIGURE_MODELS
    }
    data = curves("net", results, Paper.of(PUBLISHED_TABLE, "Netflix"))
    known = data[data["paper"].notna()].set_index("curve")
    assert dict(known["paper"]) == {"edlae": 0.394, "dropout_l2": 0.384, "product_l2": 0.369}
    assert set(known["rank"]) == {1_000}
    (axis,) = fig1_left.draw(data).axes
    stars = [line for line in axis.lines if line.get_marker() == "*"]
    assert sum(len(star.get_xdata()) for star in stars) == 3


def test_small_experiments_on_popular_items(tmp_path):
    file = tmp_path / "split.h5"
    write_split(file, random_split(), {"format": "synthetic"})
    found = embeddings.data([str(file)], ["mine"])
    quantities = set(found["quantity"])
    assert {"similar items", "all pairs", "diagonal", "iterations", "identity"} <= quantities
    similar = found[found["quantity"] == "similar items"]
    assert set(similar["model"]) == {
        "no penalty",
        "diag(UV') = 0",
        "Parseval",
        "spread-out",
        "GLaS",
    }
    assert similar["value"].between(-1, 1).all()
    assert (similar["low"] <= similar["high"]).all()
    left, right = embeddings.draw(found).axes
    assert left.get_title(loc="left") == "mine, 30 items: penalties"
    assert len(right.lines) == 2


def test_small_experiments_are_not_fitted_to_what_judges_them(tmp_path):
    """In a weak split, the part `train` holds the validation interactions as well."""
    rows = [(f"u{u}", f"i{i}") for u in range(40) for i in np.random.default_rng(u).permutation(20)]
    file, found = tmp_path / "split.h5", split(interactions_of(rows[::2]), LeaveLast(last=2))
    write_split(file, found, {"format": "csv"})
    data = Popular.of(str(file), 20)
    assert data.x.sum() == len(found.validation.fold_in) < len(found.train)
    assert data.x.multiply(data.validation.held_out).nnz == 0
    write_split(file, random_split(), {"format": "csv"})
    assert Popular.of(str(file), 30).x.sum() == len(random_split().train)
    few = [(f"u{user}", f"i{item}") for user in range(3) for item in range(3)]
    write_split(file, split(interactions_of(few), Protocol(1)), {"format": "csv"})
    with pytest.raises(UserError, match="no validation user has a held-out item"):
        Popular.of(str(file), 2)


@pytest.mark.parametrize("name", ["Parseval", "spread-out", "GLaS"])
def test_penalties_have_the_gradients_of_their_values_and_lower_what_they_penalise(name, x):
    gram = gram_matrix(x)[:12, :12].astype(float)
    penalty = penalties(gram)[name]
    rng = np.random.default_rng(0)
    w, step = rng.normal(size=(2, 12, 3))
    found, slope = penalty(w)
    h = 1e-6
    ahead, behind = penalty(w + h * step)[0], penalty(w - h * step)[0]
    assert np.vdot(slope, step) == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)
    start = LowRank(w, rng.normal(size=(12, 3)))
    light, heavy = (train(gram, 5.0, penalty, weight, start) for weight in (1e-3, 10.0))
    assert penalty(heavy.encoder)[0] < penalty(light.encoder)[0]
    assert found >= 0


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_medians_are_those_of_all_45_pairs():
    rng = np.random.default_rng(0)
    b, embeddings = rng.normal(size=(40, 40)) / 5, rng.normal(size=(40, 6))
    found = median_cosines(embeddings, similar_items(b))
    for i in range(40):
        column = b[:, i].copy()
        column[i] = 1.0
        ten = np.argsort(column)[-SIMILAR:]
        assert i in ten
        pairs = [cosine(embeddings[j], embeddings[k]) for j, k in combinations(ten, 2)]
        assert len(pairs) == 45
        assert found[i] == pytest.approx(np.median(pairs))


@pytest.mark.parametrize("model", ["zero_diagonal_l2", "product_l2"])
def test_both_gauges_hold_the_same_model(x, model):
    """With many items, the solver's own gauge is shown instead of the published one."""
    constrained = model == "zero_diagonal_l2"
    low = fit(model, Training.of(x, dtype=float), rank=8, ridge=20.0)
    for items, ours in ((60, PUBLISHED), (GAUGE_ITEMS + 1, SOLVER)):
        saved = SavedModel(model, low, np.zeros(items), {"rank": 8, "lambda": 20.0}, "")
        shown = gauges(saved, lambda: gram_matrix(x), constrained)
        assert list(shown) == [ours, BALANCED]
        ends, balanced = shown[ours], shown[BALANCED]
        b = ends.encoder @ ends.decoder.T
        np.testing.assert_allclose(balanced.encoder @ balanced.decoder.T, b, atol=1e-9)
        moments = balanced.encoder.T @ balanced.encoder
        np.testing.assert_allclose(balanced.decoder.T @ balanced.decoder, moments, atol=1e-9)
        np.testing.assert_allclose(moments, np.diag(moments.diagonal()), atol=1e-9)
    assert ends is low.model


def test_similarities_have_a_row_per_item_and_gauge(x):
    gram = gram_matrix(x)
    items = np.array([f"item {k}" for k in range(len(gram))])
    data = Training.of(x, dtype=float)
    full = SavedModel("full_edlae", fit("full_edlae", data, p=0.3, ridge=20.0), items, {}, "")
    low = published_end(gram, 20.0, 8, zero_diagonal=False)
    saved = SavedModel("product_l2", Fit(low), items, {"rank": 8, "lambda": 20.0}, "")
    found = similarities("mine", saved, full, lambda: gram, zero_diagonal=False)
    columns = ["dataset", "item", "median_encoder", "median_decoder", "gauge"]
    assert list(found) == columns
    assert list(found["item"]) == [*items, *items]
    medians = found[["median_encoder", "median_decoder"]]
    assert medians.abs().to_numpy().max() <= 1 + 1e-12
    assert isinstance(full.fit.model, FullRankModel)
    assert isinstance(saved.fit.model, LowRank)
    titles = [axis.get_title(loc="left") for axis in draw_similarities(found, "Eq. 11").axes]
    assert titles == [f"mine, Eq. 11: {PUBLISHED}", f"mine, Eq. 11: {BALANCED}"]


def test_only_the_notebooks_admm_diverges_and_only_the_corrected_ones_find_the_optimum(x):
    data = Comparison(gram_matrix(x), rank=10).curves(shown=1500, long=1500, sweeps=300)
    gap = {name: run["gap"].dropna() for name, run in data.groupby("solver")}
    assert all((run >= 0).all() for run in gap.values())
    assert gap["notebook's ADMM"].max() > 1e3, "E4"
    assert 1e-3 < gap["printed ADMM"].min() < 0.1, "ends at the minimum of another problem (E3)"
    assert gap["corrected ADMM, automatic ω"].iloc[-1] < 1e-8
    assert gap["exact ALS"].iloc[-1] < 1e-8
    assert gap["exact ALS"].diff().max() < 1e-12, "monotone"
    (axis,) = admm.draw(data).axes
    assert any("diverges" in text.get_text() for text in axis.texts)
