"""A verdict follows from its numbers, and from nothing else."""

import json

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.claims.check_files import read_checks, write_all_checks, write_checks
from lindrop.claims.checks import CORRECTED, Check, at_least, at_most, equal


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (equal("c", "w", 1.05, 1, 0.1), "holds"),
        (equal("c", "w", 0.8, 1, 0.1), "fails"),
        (equal("c", "w", 1.2, 1, 0.1), "fails"),
        (at_most("c", "w", 1.05, 1, 0.1), "holds"),
        (at_most("c", "w", -9, 1), "holds"),
        (at_most("c", "w", 1.2, 1, 0.1), "fails"),
        (at_least("c", "w", 0.95, 1, 0.1), "holds"),
        (at_least("c", "w", 9, 1), "holds"),
        (at_least("c", "w", 0.8, 1, 0.1), "fails"),
    ],
)
def test_relations(check, verdict):
    assert check.verdict == verdict


@pytest.mark.parametrize("relation", [equal, at_most, at_least])
def test_what_is_not_a_number_fails(relation):
    assert not relation("c", "w", np.nan, 1, 1e9).holds


def test_a_file_per_claim_read_back_as_written(tmp_path):
    checks = [equal("a", "one", 1 / 3, 1, 0.1), at_most("b", "two", 1, 2, form=CORRECTED)]
    write_all_checks([tmp_path / "a.json", tmp_path / "b.json"], "paper2000", checks)
    assert read_checks(tmp_path / "a.json") == checks[:1]
    assert read_checks(tmp_path / "b.json") == checks[1:]
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (content["paper"], content["checks"][0]["verdict"]) == ("paper2000", "fails")


def test_what_is_not_a_number_stays_so_and_the_file_is_json(tmp_path):
    write_checks(tmp_path / "a.json", "p", "a", [equal("a", "one", np.nan, 1)])
    assert "NaN" not in (tmp_path / "a.json").read_text(encoding="utf-8")
    (check,) = read_checks(tmp_path / "a.json")
    assert np.isnan(check.computed)
    assert check.verdict == "fails"


def test_the_verdict_in_the_file_is_not_believed(tmp_path):
    write_checks(tmp_path / "a.json", "p", "a", [equal("a", "one", 3, 1)])
    text = (tmp_path / "a.json").read_text(encoding="utf-8").replace("fails", "holds")
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert read_checks(tmp_path / "a.json")[0].verdict == "fails"


def test_claims_without_checks_and_checks_without_claims_are_refused(tmp_path):
    check: Check = equal("a", "one", 1, 1)
    with pytest.raises(ValueError, match="no check of b"):
        write_checks(tmp_path / "b.json", "p", "b", [check])
    with pytest.raises(ValueError, match="no file for the checks of a"):
        write_all_checks([tmp_path / "b.json"], "p", [check])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{}", '{"claim": "a", "checks": [{"what": "w"}]}'])
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.json: not a file of checks"):
        read_checks(tmp_path / "a.json")
