"""Published procedures of rows 1 to 5: settings, iterates, optima, and the search of points."""

from itertools import islice

import numpy as np
import pytest

from lindrop.models.base import LowRank, dropout_penalty
from lindrop.models.edlae import as_published
from lindrop.papers.steck2020.procedures import (
    BATCHES,
    CONSTRAINED,
    OMEGA,
    PRINTED,
    ROWS,
    Data,
    P,
    Point,
    aim_of_printed_updates,
    printed_point,
    search,
)
from support.models import tasteful
from support.objectives import Loss

ROW_1, ROW_2, ROW_3, ROW_4, ROW_5 = ROWS
X = tasteful(300, 20)
POINT = Point(0.33, 20.0)


@pytest.fixture(scope="module")
def data():
    return Data(X, 4)


def test_every_row_has_the_published_settings_of_the_three_datasets():
    """The λ that these weights amount to were derived by hand ."""
    assert set(PRINTED) == {"ML-20M", "Netflix", "MSD"}
    shapes = {"ML-20M": (116_677, 20_108), "Netflix": (383_435, 17_769), "MSD": (471_355, 41_140)}
    decay = {paper: printed_point(paper, ROW_1, shape).ridge for paper, shape in shapes.items()}
    assert decay == pytest.approx({"ML-20M": 9385, "Netflix": 27253, "MSD": 1939}, rel=1e-3)
    product = {paper: printed_point(paper, ROW_4, shape).ridge for paper, shape in shapes.items()}
    assert product == pytest.approx({"ML-20M": 3.52, "Netflix": 6.81, "MSD": 1e-4}, rel=0.04)
    for paper, points in PRINTED.items():
        rows = (*ROWS, CONSTRAINED)
        assert list(points) == [row.model for row in rows]
        for row in rows:
            assert points[row.model].epochs in row.epochs
            assert printed_point(paper, row, shapes[paper]).p == points[row.model].p
    assert printed_point("MSD", ROW_5, shapes["MSD"]) == (0.1, 10, 20)


def test_the_supplements_updates_aim_at_other_parameters():
    """Eq. 10 at p' and λ' has the penalty 2Λ̃ + ωI: .33, 400 and ω = 500 become .496 and 1,300."""
    found = aim_of_printed_updates(Point(0.33, 400.0), OMEGA)
    assert found == pytest.approx((0.496, 1300.0, 0), abs=5e-4)
    diagonal = np.array([3.0, 50.0, 700.0])
    twice = 2 * dropout_penalty(diagonal, 0.33, 400.0) + OMEGA
    np.testing.assert_allclose(dropout_penalty(diagonal, found.p, found.ridge), twice)


def test_alternation_and_admm_have_the_iterates_of_the_published_equations(data):
    start = as_published.notebook_start(20, 4, seed=7)
    expected = as_published.notebook_admm(data.gram, *POINT[:2], data.omega, start)
    for model, (u, v) in islice(zip(data.published(ROW_5, POINT, 7), expected, strict=False), 8):
        np.testing.assert_allclose(model.encoder, u, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.decoder, v, rtol=1e-6, atol=1e-9)
    start = np.random.RandomState(7).randn(4, 20).T * 1e-4
    expected = as_published.printed_alternation(data.gram, *POINT[:2], start, zero_diagonal=False)
    for model, (u, v) in islice(zip(data.published(ROW_3, POINT, 7), expected, strict=False), 8):
        np.testing.assert_allclose(model.encoder @ model.decoder.T, u @ v.T, atol=1e-9)


@pytest.mark.parametrize("factored", [16_000, 4], ids=["by Cholesky factors", "of many items"])
def test_alternation_for_eq_11_has_the_iterates_of_the_published_equations(
    data, factored, monkeypatch
):
    monkeypatch.setattr(as_published, "LARGEST_FACTORED", factored)
    large = Data(X, 8)  # rank² above the number of items
    start = np.random.RandomState(7).randn(8, 20).T * 1e-4
    expected = as_published.printed_alternation(large.gram, *POINT[:2], start, zero_diagonal=True)
    trained = large.published(CONSTRAINED, POINT, 7)
    for model, (u, v) in islice(zip(trained, expected, strict=False), 10):
        np.testing.assert_allclose(model.encoder @ model.decoder.T, u @ v.T, atol=1e-8)
    assert np.abs(np.diag(model.encoder @ model.decoder.T)).max() < 1e-8


def test_batches_are_as_many_as_on_ml_20m_unless_the_dataset_is_the_papers():
    small, large = Data(X, 4), Data(X, 4, of_paper=True)
    assert -(-300 // small.batch) <= BATCHES < -(-300 // (small.batch - 1))
    assert (large.batch, large.omega) == (4_096, 500.0)
    assert small.omega == pytest.approx(0.74 * np.diag(small.gram).mean())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.model)
def test_no_training_comes_below_the_optimum_and_its_objective_is_that_of_the_paper(data, row):
    point = POINT if row.p else Point(0.0, 20.0)
    best = data.exact(row, point).model
    minimum = data.objective(row, point, best)
    u, v = (part.astype(float) for part in (best.encoder, best.decoder))
    loss = Loss(point.p, point.ridge, free_diagonal=row is ROW_5)
    if row is ROW_1:
        misfit = Loss(0.0, 0.0)(u, v)
        assert minimum == pytest.approx(misfit + 20 * (np.sum(u**2) + np.sum(v**2)), rel=1e-6)
    else:
        assert minimum == pytest.approx(loss(u, v), rel=1e-6)
    for model in islice(data.published(row, point, 1), row.epochs[-1]):
        assert data.objective(row, point, model) > minimum * (1 - 1e-5)


def test_dropout_trained_for_long_is_that_of_row_3(data):
    """The mean over masks of row 4's objective is row 3's, and its training comes near it."""
    start, *_, last = islice(data.published(ROW_4, POINT, 1), 300)
    optimum = data.objective(ROW_4, POINT, data.exact(ROW_3, POINT).model)
    assert data.objective(ROW_4, POINT, last) < 1.05 * optimum
    assert isinstance(start, LowRank)


def test_the_search_walks_to_the_best_point_of_its_lattice(data):
    def score(p, ridge):
        return -((p - 0.5) ** 2) - (np.log10(ridge / data.diagonal.mean()) - 1) ** 2

    (p, ridge), tried = search(data, ROW_3, score)
    assert (p, ridge) == (0.5, pytest.approx(10 * data.diagonal.mean()))
    assert tried < 20
    between = data.ridge(2.5)  # at a quarter of a decade
    (_, ridge), _ = search(data, ROW_2, lambda p, ridge: -abs(np.log(ridge / between)))
    assert ridge == between
    (p, ridge), _ = search(data, ROW_2, lambda p, ridge: -ridge)
    assert (p, ridge) == (0.0, pytest.approx(data.ridge(3 - 6)))  # bounded
    (p, _), _ = search(data, ROW_5, lambda p, _: p if p < 0.8 else float("nan"))
    assert p == P[-2]
