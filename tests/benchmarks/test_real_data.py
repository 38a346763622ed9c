"""docs/results.md has its numbers in the committed csv files, and says what follows from them."""

import re
from pathlib import Path

import emphasis
import pandas as pd
import pytest
import real_claims
import real_data

from lindrop.claims.check_files import write_checks
from lindrop.claims.checks import at_least, equal
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.papers.steck2020.figures.emphasis import CHOSEN
from lindrop.papers.steck2020.section_6 import LARGE
from support.repository import REPOSITORY

EMPHASIS = pd.read_csv(emphasis.FILE)


def test_the_page_is_what_the_csv_files_give():
    assert real_data.PAGE.read_text(encoding="utf-8") == real_data.page()


def test_every_claim_and_set_has_the_verdict_of_its_checks():
    decided = real_claims.claims()
    names = {name for _, own in decided for name in own}
    assert names <= set(real_claims.TITLES)
    rows = [row for row in real_claims.section() if row.startswith("| **")]
    assert len(rows) == len(decided)
    for row, (claim, own) in zip(rows, decided, strict=True):
        assert row.startswith(f"| **{claim.where}.**")
        for checks in own.values():
            word = real_claims.WORDS[verdict(checks)]
            number = f"{real_claims.telling(checks, verdict(checks)).computed:.3g}"
            assert re.search(rf"\| {word}( \(charitably\))?: {number}".replace("-", "−"), row)


def test_a_claim_without_enough_users_or_at_no_rest_is_undecided():
    """Wherever a check of a claim cannot decide, its verdict does not hang on it."""
    for _, own in real_claims.claims():
        for checks in own.values():
            if all(check.doubt for check in checks if check.form == "as printed"):
                assert verdict(checks) in (Verdict.UNDECIDED, Verdict.IN_SHAPE)
    few = at_least("table1", "x: gain", 0.01, 0.0, data="other")
    few = few.__class__(**{**vars(few), "stderr": 0.02, "users": 100})
    assert real_claims.cell([few]) == "undecided: 0.01 ≥ 0; about 1,600 test users would tell"
    rested = few.__class__(**{**vars(few), "stderr": 0.0, "at_rest": False})
    assert real_claims.cell([rested]) == "undecided: 0.01 ≥ 0; a fit is not at rest"


def test_numbers_of_the_sentences_on_b_are_in_the_csv():
    text = emphasis.sentences(EMPHASIS)
    shown = re.findall(r"[+−]\d\.\d{4}", text)
    values = EMPHASIS[["value", "low", "high"]].to_numpy(float).ravel()
    known = {f"{value:+.4f}".replace("-", "−") for value in values}
    assert len(shown) == 4 * EMPHASIS["dataset"].nunique()
    assert set(shown) <= known


def test_words_on_b_follow_from_the_numbers():
    assert pytest.approx(0.02, abs=0.003) == LARGE, emphasis.LARGE_NAME
    for _, of in EMPHASIS.groupby("dataset"):
        assert (of.loc[of["quantity"] == "identity", "value"] < 1e-9).all()
        assert (of["quantity"] == CHOSEN).sum() == 1
    assert emphasis.worth(0.01, gains=True, loses=False).startswith("a gain of less")
    assert emphasis.worth(0.03, gains=True, loses=False).startswith("a gain of more")
    assert emphasis.worth(-0.01, gains=False, loses=True).startswith("a loss of less")
    assert emphasis.worth(0.01, gains=False, loses=False).startswith("which cannot")


def test_the_readme_says_of_b_what_the_numbers_say():
    readme = " ".join((REPOSITORY / "README.md").read_text(encoding="utf-8").split())
    says = (
        "gains a little on MovieLens 1M and Gowalla, less than 1 per cent, and on Last.fm nothing "
        "that can be told from zero."
    )
    assert f"the weight b that the paper sets to 0 (full emphasis) {says}" in readme
    chosen = EMPHASIS[EMPHASIS["quantity"] == CHOSEN].set_index("dataset")
    assert set(chosen.index[chosen["low"] > 0]) == {"ml-1m", "gowalla-users"}
    full = EMPHASIS[(EMPHASIS["quantity"] == "gain") & (EMPHASIS["b"] == 0)].set_index("dataset")
    assert (chosen["value"] / full["mean"] < 0.01).all()


def test_a_run_replaces_the_lines_of_its_datasets_alone(tmp_path, monkeypatch):
    run = tmp_path / "results"
    (run / "tables").mkdir(parents=True)
    (run / "tables" / "steck2020_table1.csv").write_text("dataset\nlastfm\n")
    (run / "experiments" / "steck2020").mkdir(parents=True)
    known = at_least("table1", "lastfm: least gain", 0.01, 0.0, data="other")
    others = (
        equal("table1_errors", "lastfm: not a set of the paper", float("nan"), 0, data="other"),
        at_least("section_5", "lastfm: of its popular items", 1.0, 0.0, data="synthetic"),
    )
    write_checks(run / "experiments" / "steck2020" / "experiments.json", [known, *others])
    monkeypatch.setattr(real_data, "NUMBERS", tmp_path)
    file = tmp_path / "real_claims.csv"
    monkeypatch.setattr(real_claims, "FILE", file)
    earlier = {**vars(known), "dataset": "ml-100k", "what": "ml-100k: least gain"}
    pd.DataFrame([earlier, {**earlier, "dataset": "lastfm"}]).to_csv(file, index=False)
    real_data.add(Path(run))
    found = pd.read_csv(file)
    assert found["dataset"].tolist() == ["ml-100k", "lastfm"]
    assert found["what"].tolist() == ["ml-100k: least gain", "lastfm: least gain"]


def test_a_run_on_fewer_splits_replaces_nothing(tmp_path, monkeypatch):
    run = tmp_path / "results"
    (run / "figures").mkdir(parents=True)
    monkeypatch.setattr(real_data, "NUMBERS", tmp_path)
    kept, new = tmp_path / "attribution.csv", run / "figures" / "steck2020_attribution.csv"
    line = {"dataset": "ml-1m", "quantity": "gain", "splits": 5, "value": 0.25}
    pd.DataFrame([line]).to_csv(kept, index=False)
    pd.DataFrame([{**line, "splits": 1, "value": 0.5}]).to_csv(new, index=False)
    real_data.add(run)
    assert pd.read_csv(kept)["value"].tolist() == [0.25]
    pd.DataFrame([{**line, "value": 0.75}]).to_csv(new, index=False)
    real_data.add(run)
    assert pd.read_csv(kept)["value"].tolist() == [0.75]


@pytest.mark.parametrize("name", real_data.PICTURES)
def test_pictures_are_there(name):
    assert (real_data.DOCS / f"{name}.png").stat().st_size > 10_000
