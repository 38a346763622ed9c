"""Numbers that others published on Gowalla: those of our last full run, and a part of the set."""

import numpy as np
import pandas as pd
import pytest
from published import FILE, METRICS, PUBLISHED, TOLERANCES, section
from real_data import PAGE

from lindrop.data.formats import read_interactions
from lindrop.data.interactions import TEST, TRAIN, joined
from lindrop.data.split import Given, split
from lindrop.models.base import Training
from lindrop.models.catalogue import fit
from lindrop.ranking.evaluation import evaluate

FOUND = pd.read_csv(FILE)


@pytest.mark.parametrize("model", FOUND["model"].unique())
def test_the_last_full_run_gave_the_published_numbers(model):
    rows = FOUND[FOUND["model"] == model].set_index("metric").loc[METRICS]
    assert rows["published"].tolist() == PUBLISHED[model][2]
    assert (rows["n_users"] == 29_858).all()
    np.testing.assert_allclose(rows["ours"], rows["published"], rtol=0, atol=TOLERANCES[model])


def test_the_page_shows_what_the_run_gave():
    assert "\n".join(section(FOUND)) in PAGE.read_text(encoding="utf-8")


def by_numpy(train, test, ridge, p):
    """EDLAE in float64 from its formula, and the metrics of LightGCN's and BARS's evaluations."""
    gram = (train.T @ train).toarray().astype(np.float64)
    penalty = ridge + p / (1 - p) * gram.diagonal()
    inverse = np.linalg.inv(gram + np.diag(penalty))
    b = np.eye(len(gram)) - inverse / inverse.diagonal()
    scores = train @ b
    scores[train.nonzero()] = -np.inf
    found = []
    for row, wanted in zip(scores, test, strict=True):
        if not wanted.any():
            continue
        hits = wanted[np.argsort(-row, kind="stable")]
        values = []
        for of in ("recall", "ndcg", "hit"):
            for k in (20, 50):
                top, n = hits[:k], int(wanted.sum())
                weights = 1 / np.log2(np.arange(2, k + 2))
                ideal = weights[: min(n, k)].sum()
                values.append({"recall": top.sum() / n, "hit": float(top.any()),
                               "ndcg": top @ weights / ideal}[of])  # fmt: skip
        found.append(values)
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    ("model", "options"),
    [("ease", {"ridge": 80.0}), ("full_edlae", {"ridge": 60.0, "p": 0.8})],
)
def test_a_part_of_gowalla_gives_what_numpy_does(model, options, shared):
    parts = {of: read_interactions(shared / "gowalla" / f"{name}.txt.gz", "adjacency")
             for of, name in ((TRAIN, "train"), (TEST, "test"))}  # fmt: skip
    whole = split(joined(parts), Given())
    assert (len(whole.users), len(whole.items)) == (29_858, 40_981)
    assert (len(whole.train), len(whole.test.held_out)) == (810_128, 217_242)
    x = whole.matrix("train")
    popular = np.sort(np.argsort(-x.sum(axis=0), kind="stable")[:800])
    train, test = x[:3000, popular], whole.matrix("test/held_out")[:3000, popular]
    found = evaluate(fit(model, Training.of(train), **options).model, train, test, METRICS)
    expected = by_numpy(train, test.toarray(), options["ridge"], options.get("p", 0.0))
    np.testing.assert_allclose(found.per_user.mean(), expected, rtol=0, atol=1e-6)
