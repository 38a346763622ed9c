"""A verdict follows from its numbers, and from nothing else."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.claims.check_files import read_checks, write_checks
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


@pytest.mark.parametrize(
    ("computed", "stderr", "users", "doubt"),
    [
        (0.5, 0.0, 100, ""),  # no mean over users
        (0.5, 0.2, 100, ""),  # 2.5 standard errors above the bound
        (-0.5, 0.2, 100, ""),  # and as many below it: it fails
        (0.5, 0.25, 100, ""),
        (0.3, 0.25, 100, "about 278 test users would tell"),  # 1.2: (2 / 1.2)² times as many
        (-0.3, 0.25, 100, "about 278 test users would tell"),
        (0.001, 0.25, 400, "about 100,000,000 test users would tell"),
        (0.0, 0.25, 100, "no number of users would tell"),
    ],
)
def test_a_test_set_too_small_to_tell_leaves_a_check_open(computed, stderr, users, doubt):
    for relation in ("at least", "at most"):
        check = Check("c", "w", computed, relation, 0.0, 0.0, stderr=stderr, users=users)
        assert check.doubt == doubt
        assert check.verdict in (("undecided",) if doubt else ("holds", "fails"))


def test_the_distance_that_users_must_tell_is_that_from_the_bound_with_its_tolerance():
    check = Check("c", "w", 0.3, "at most", 0.0, 0.1, stderr=0.125, users=100)
    assert check.needed_users == round(100 * (0.25 / 0.2) ** 2 + 0.5)
    check = Check("c", "w", -0.3, "at least", 0.0, 0.1, stderr=0.125, users=100)
    assert check.needed_users == round(100 * (0.25 / 0.2) ** 2 + 0.5)


def test_files_keep_what_makes_a_check_doubtful_and_are_otherwise_as_before(tmp_path):
    checks = [
        at_most("c", "w", 1, 2),
        Check("c", "w", 0.3, "at least", 0.0, 0.0, stderr=1.0, users=9),
    ]
    checks.append(replace(checks[0], at_rest=False))
    write_checks(tmp_path / "a.json", checks)
    assert read_checks(tmp_path / "a.json") == checks
    lines = json.loads((tmp_path / "a.json").read_text())["checks"]
    assert [{"stderr", "users", "at_rest"} & {*line} for line in lines] == [
        set(),
        {"stderr", "users"},
        {"at_rest"},
    ]
    assert [line["verdict"] for line in lines] == ["holds", "undecided", "undecided"]
