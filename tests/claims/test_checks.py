"""A verdict follows from its numbers, and from nothing else."""

import json

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.claims.check_files import read_checks, write_checks
from lindrop.claims.checks import CORRECTED, at_least, at_most, equal


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


def test_checks_of_several_claims_are_read_back_as_written(tmp_path):
    checks = [equal("a", "one", 1 / 3, 1, 0.1), at_most("b", "two", 1, 2, form=CORRECTED)]
    write_checks(tmp_path / "job.json", checks)
    assert read_checks(tmp_path / "job.json") == checks
    content = json.loads((tmp_path / "job.json").read_text(encoding="utf-8"))
    assert [(line["claim"], line["verdict"]) for line in content["checks"]] == [
        ("a", "fails"),
        ("b", "holds"),
    ]


def test_what_is_not_a_number_stays_so_and_the_file_is_json(tmp_path):
    write_checks(tmp_path / "a.json", [equal("a", "one", np.nan, 1)])
    assert "NaN" not in (tmp_path / "a.json").read_text(encoding="utf-8")
    (check,) = read_checks(tmp_path / "a.json")
    assert np.isnan(check.computed)
    assert check.verdict == "fails"


def test_the_verdict_in_the_file_is_not_believed(tmp_path):
    write_checks(tmp_path / "a.json", [equal("a", "one", 3, 1)])
    text = (tmp_path / "a.json").read_text(encoding="utf-8").replace("fails", "holds")
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert read_checks(tmp_path / "a.json")[0].verdict == "fails"


@pytest.mark.parametrize(
    "text", ["", "{}", '{"claim": "a", "checks": [{"what": "w"}]}', '[{"what": "w"}]', "[1]"]
)
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.json: not a file of checks"):
        read_checks(tmp_path / "a.json")
