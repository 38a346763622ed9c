"""The figures of Steck 2020: their arithmetic, and where a paper's number may stand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.data.split import LeaveLast, Protocol, split
from lindrop.linalg.gram import gram_matrix
from lindrop.models.base import Fit, FullRankModel, LowRank, Training
from lindrop.models.catalogue import fit
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
from lindrop.papers.steck2020.models import CURVES, FIGURE_MODELS
from lindrop.papers.steck2020.popular import Popular
from lindrop.papers.steck2020.spread import penalties, train
from lindrop.papers.steck2020.tables.table1 import Paper
from lindrop.ranking.evaluation import paired
from lindrop.store.model import SavedModel
from lindrop.store.split import write_split
from support.splits import interactions_of, random_split
from support.steck2020 import PUBLISHED_TABLE, fabricated


@pytest.fixture(scope="module")
def x():
    """Items in groups that users like together."""
    rng = np.random.default_rng(0)
    taste = rng.random((400, 4)) < 0.4
    group = np.arange(60) % 4
    liked = rng.random((400, 60)) < np.where(taste[:, group], 0.4, 0.05)
    return sp.csr_array(liked.astype(np.float32))


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
