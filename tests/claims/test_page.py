"""The page of results: all of a run in one file that loads nothing."""

import base64
import re

import numpy as np
import pandas as pd
import pytest
import yaml

from lindrop.claims.checks import Check, at_most, equal
from lindrop.claims.evidence import asked, shown
from lindrop.claims.media import Table, caption_of, paper_of, pieces
from lindrop.claims.page import duration
from lindrop.claims.provenance import costs, provenance
from lindrop.papers.steck2020.table1_comparison import beside
from support.page import CHECKS, CLAIMS, PUBLISHED, SAYS, made, write
from support.repository import REPOSITORY


def test_every_claim_and_erratum_is_on_the_page(html):
    assert html.count('<tr class="claim">') == len(SAYS)
    for says in SAYS:
        assert says.partition(" <")[0].replace("'", "&#39;") in html
    assert 'id="E7"' in html
    assert "ρ &lt; r" in html
    assert "To run it: make deep" in html


def test_only_the_time_differs_between_two_pages(path, tmp_path):
    """But for the folder of the run, which is part of the names of its figures."""

    def timeless(page):
        text = page.read_text(encoding="utf-8").replace(str(page.parents[2]), "")
        return re.sub(r"[\d-]+ [\d:]+ UTC", "", text)

    assert timeless(made(tmp_path)) == timeless(path)


def test_texts_are_escaped(html):
    assert "<script>window" not in html
    assert html.count("<script>") == 1
    assert "&lt;script&gt;window.hit" in html


def test_nothing_is_loaded(html):
    for target in re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', html):
        assert target.startswith(("data:", "#")), target[:80]
    assert not re.search(r"url\(|@import|<link|<iframe", html)


def test_a_figure_is_embedded_once(path, html):
    for figure in (path.parents[1] / "figures").glob("*.png"):
        assert html.count(base64.b64encode(figure.read_bytes()).decode()) == 1
    assert 'width="1350" height="600"' in html


@pytest.mark.parametrize("name", ["2019", "007", "1_000"])
def test_a_dataset_keeps_its_name_in_a_table(tmp_path, name):
    file = tmp_path / "table.html"
    file.with_suffix(".csv").write_text(f"dataset,n_users,density\n{name},1234,0.123456\n")
    shown = [name, "1,234", "0.1235"]
    assert Table("table", "", "", file).rows == [["dataset", "n users", "density"], shown]


def test_numbers_of_generated_data_are_not_the_papers(path):
    found = beside(
        path.parents[1] / "tables" / "steck2020_table1.csv",
        yaml.safe_load(PUBLISHED.read_text()),
        {"demo"},
    )
    demo, ml, *printed = found.columns
    assert demo.kind == "measured here, generated data"
    assert demo.numbers["edlae"]["ndcg@100"].printed is None
    assert ml.kind == "measured here, the paper's data"
    assert ml.numbers["edlae"]["ndcg@100"].printed == 0.42
    assert [(c.dataset, c.measured) for c in printed] == [
        ("ML-20M", False),
        ("Netflix", False),
        ("MSD", False),
    ]
    assert "recall@20" not in printed[0].numbers["weight_decay"]
    assert [row for row, *_ in found.models][:3] == ["5", "baseline", "1"]
    assert ("reprinted", "mult_vae", "Mult-VAE") in found.models


def test_trainings_as_published_and_optima_stand_beside_the_table(path):
    trained = REPOSITORY / "benchmarks" / "results" / "attribution.csv"
    lines = pd.read_csv(trained)
    lines = lines[(lines["dataset"] == "ml-100k") & (lines["of"] == "5 as published")]
    expected = lines[lines["quantity"] == "criterion"].iloc[0]
    table = path.parents[1] / "tables" / "steck2020_table1.csv"
    own = write(path.parents[1] / "own.csv", table.read_text().replace("\ndemo,", "\nml-100k,"))
    found = beside(own, yaml.safe_load(PUBLISHED.read_text()), set(), trained)
    ours, published, exact, *_ = found.columns
    assert ours.kind.startswith("measured here")
    assert published.kind == "trained by the published procedure, 5 splits"
    assert exact.kind == "the optimum of the same objective, tuned alike, 5 splits"
    assert {column.dataset for column in (ours, published, exact)} == {"ml-100k"}
    assert list(published.numbers) == list(exact.numbers)
    assert len(published.numbers) == 5
    number = published.numbers["edlae"]["ndcg@100"]
    assert (number.mean, number.stderr) == (expected["value"], expected["stderr"])
    assert published.chosen["edlae"] in expected["points"]
    assert published.metrics == exact.metrics == ("ndcg@100",)


def test_costs_are_added_by_rule(path):
    fast, fit = costs(path.parents[1] / "benchmarks")
    assert (fit.rule, fit.jobs, fit.seconds, fit.cpu_seconds, fit.megabytes) == (
        *("fit", 2, 101.0, 53.0),
        500.0,
    )
    assert (fast.rule, fast.cpu_seconds, fast.megabytes) == ("fast", 0.0, 0.0)


def test_provenance_names_versions_and_machine(path):
    found = provenance(path.parents[1] / "benchmarks")
    assert {"python", "numpy", "snakemake"} <= set(found.versions)
    assert all(found.machine.values())
    assert found.total.jobs == 3
    assert provenance(path / "none").total.megabytes == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.25"),
        (-3.1e-7, "−3.1\xa0×\xa010⁻⁷"),
        (1e-9, "10⁻⁹"),
        (2.5e11, "2.5\xa0×\xa010¹¹"),
        (np.nan, "–"),
    ],
)
def test_numbers_are_readable(value, text):
    assert shown(value) == text


def test_small_texts(tmp_path):
    assert asked(equal("c", "w", 1.0, 2.0, 0.5)) == "equal to 2\xa0±\xa00.5"
    assert asked(at_most("c", "w", 1.0, 2.0)) == "at most 2"
    assert [duration(s) for s in (1.25, 200, 7500)] == ["1.2 s", "3 min 20 s", "2 h 5 min"]
    assert [paper_of(n) for n in ("pal2020", "pal2020_fig1", "dataset_tails")] == [
        *("Pal 2020", "Pal 2020"),
        "Data",
    ]
    assert pieces("a ``b`` c") == [("a ", False), ("b", True), (" c", False)]
    assert caption_of(tmp_path / "none") == ""


def test_an_undecided_claim_says_how_many_users_would_decide_it(tmp_path, monkeypatch):
    close = Check("close", "gain", 0.3, "at least", 0.0, 0.0, data="other", stderr=0.25, users=100)
    monkeypatch.setitem(CHECKS, "steck2020", [*CHECKS["steck2020"], close])
    claims = CLAIMS["steck2020"] | {"close": ("Row 5 wins narrowly.", {})}
    monkeypatch.setitem(CLAIMS, "steck2020", claims)
    html = made(tmp_path).read_text(encoding="utf-8")
    row = re.search(r'<tbody id="steck2020/close".*?</tbody>', html, re.DOTALL)[0]
    assert 'data-verdict="undecided"' in row
    assert row.count("undecided: about 278 test users would tell") == 2
    assert "Not decided by this run." in row
    assert f"This run decided {len(SAYS) - 2} of {len(SAYS) + 1} claims" in html
