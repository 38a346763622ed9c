"""Weights b above 0 at full rank: the formulas, what is chosen, the claim and the figure."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from lindrop.base.errors import UserError
from lindrop.claims.checks import EXTENSION
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.models.base import Training, dropout_penalty
from lindrop.models.full_rank import fit_edlae, fit_emphasised
from lindrop.papers.steck2020 import partial_emphasis as emphases
from lindrop.papers.steck2020.figures import emphasis as figure
from lindrop.papers.steck2020.partial_emphasis import BESIDE, INSIDE, KINDS, Emphases, column
from lindrop.papers.steck2020.problems import Masked, enumerable
from lindrop.store.csv_files import write_csv

X = enumerable(np.random.default_rng(3))


@pytest.mark.parametrize(("p", "b", "ridge"), [*product((0.2, 0.7), (0.1, 0.6, 1.0), (0.0, 0.9))])
def test_the_normal_equations_are_those_of_the_loss_over_all_masks(p, b, ridge):
    found = emphases.normal_equations(X.T @ X, p, (1.0, b), ridge * (1 - p) ** 2)
    np.testing.assert_allclose((1 - p) * found, Masked(X, p).minimiser(1.0, b, ridge), atol=1e-13)


@pytest.fixture(scope="module")
def results(study):
    return Emphases(study).results()


def test_the_identities_hold_to_rounding_and_fail_for_another_formula(study, monkeypatch):
    found = emphases.identities(study.data.x)
    assert set(found) == set(figure.IDENTITIES)
    assert max(found.values()) < 1e-12

    def without_the_factor(kind, gram, p, ridge, inverse):
        return 1 / inverse

    monkeypatch.setattr(emphases, "scale", without_the_factor)
    wrong = emphases.identities(study.data.x)
    assert wrong["beside"] > 1e-3
    assert wrong["zero"] < 1e-12


@pytest.mark.parametrize("b", [0.1, 0.5, 1.0])
def test_models_are_the_librarys_off_the_diagonal(study, b):
    p, ridge = 0.33, 20.0
    models = Emphases(study).models(p, ridge)
    training = Training(study.data.x, study.data.gram.astype)
    for kind, fit in {
        (INSIDE, b): fit_emphasised(training, p, ridge, 1.0, b),
        figure.FULL: fit_edlae(training, p, ridge),
    }.items():
        matrix = fit.model.matrix.copy()
        np.fill_diagonal(matrix, 0)
        eye = sp.csr_array(np.eye(40, dtype=np.float32))
        np.testing.assert_allclose(models[kind].scores(eye), matrix, atol=1e-5)


def test_λ_beside_the_loss_is_its_minimum_on_the_data(study):
    p, b, ridge = 0.33, 0.5, 20.0
    gram, mean = study.data.gram, p + b * (1 - p)
    found = (1 - p) * emphases.normal_equations(gram, p, (1, b), ridge * (1 - p) ** 2 * mean)
    np.fill_diagonal(found, 0)
    inverse = np.linalg.inv(gram + np.diag(dropout_penalty(gram.diagonal(), p, ridge)))
    scale = emphases.scale((BESIDE, b), gram.diagonal(), p, ridge, inverse.diagonal())
    np.fill_diagonal(inverse, 0)
    np.testing.assert_allclose(-inverse * scale, found, atol=1e-12)


def test_every_b_is_tuned_on_the_validation_users(study, results):
    models, users = results
    assert {*zip(models["ridge"], models["b"], strict=True)} == {*KINDS}
    assert set(users) == {"user", *map(column, KINDS)}
    for line in models.to_dict("records"):
        kind = (line["ridge"], line["b"])
        model = Emphases(study).models(line["p"], line["lambda"])[kind]
        assert study.validation.score(model) == pytest.approx(line["validation"])
        assert study.test.score(model) == pytest.approx(line["test"])
        assert line["test"] == pytest.approx(users[column(kind)].mean())
        further = Emphases(study)
        for step in (-1, 1):  # no neighbour of the chosen λ is better
            near = line["lambda"] * 10 ** (step / 2)
            assert further.score(kind, line["p"], near) <= line["validation"] + 1e-9


NOISE = np.random.default_rng(5).normal(0, 0.001, (len(KINDS), 60))


@pytest.fixture
def made(results, tmp_path):
    """What `data` of the figure makes of two splits of one dataset."""

    def make(gain=None, noise=NOISE):
        models, users = results
        models = models.assign(equation_6=1e-15, beside=1e-15, zero=1e-15)
        if gain is not None:
            means = {kind: 0.3 + gain * kind[1] for kind in KINDS}
            score = {column(kind): means[kind] + noise[n] for n, kind in enumerate(KINDS)}
            users = users.assign(**score)
            keys = zip(models["ridge"], models["b"], strict=True)
            models = models.assign(validation=[means[key] for key in keys])
        files = SimpleNamespace(splits=[], users=[])
        for number in range(2):
            files.splits.append(str(tmp_path / f"split-{number}.csv"))
            write_csv(files.splits[-1], models.assign(dataset="one", data="other", split=number))
            files.users.append(str(tmp_path / f"users-{number}.csv"))
            write_csv(files.users[-1], users.assign(dataset="one", split=number))
        return figure.data(**vars(files))

    return make


def test_the_figure_has_every_gain_and_what_is_chosen(made):
    found = made(gain=0.01)
    counts = found["quantity"].value_counts().to_dict()
    assert counts == {"gain": len(KINDS), "identity": 3, figure.CHOSEN: 1}
    gains = found[found["quantity"] == "gain"].set_index(["ridge", "b"])
    assert gains.loc[figure.FULL, "value"] == 0
    assert gains.loc[(INSIDE, 0.5), "value"] == pytest.approx(0.005, abs=5e-4)
    (chosen,) = found[found["quantity"] == figure.CHOSEN].to_dict("records")
    assert chosen["value"] == pytest.approx(gains.loc[(INSIDE, 1.0), "value"])
    assert chosen["points"] == "; ".join([column((INSIDE, 1.0))] * 2)
    drawn = figure.draw(found)
    assert drawn.axes[0].get_title(loc="left") == "one"


def test_the_claim_follows_from_the_gain(made):
    assert verdict(figure.checks(made(gain=-0.01))) == Verdict.IN_SHAPE
    assert verdict(figure.checks(made(gain=0.002))) == Verdict.IN_SHAPE  # less than 2 per cent
    assert verdict(figure.checks(made(gain=0.02))) == Verdict.OTHERWISE
    assert verdict(figure.checks(made(gain=0.0061, noise=20 * NOISE))) == Verdict.UNDECIDED


def test_another_identity_is_no_extension(made):
    data = made(gain=0.0)
    data.loc[data["points"] == "beside", "value"] = 1e-3
    failed = [check for check in figure.checks(data) if not check.holds]
    assert {check.form for check in failed if check.form == EXTENSION} == {EXTENSION}
    assert len([check for check in failed if check.form == EXTENSION]) == 1


def test_without_a_split_by_users_there_is_nothing_to_tune():
    with pytest.raises(UserError, match="has `split: users`"):
        figure.data([], [])
