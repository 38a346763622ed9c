"""A verdict follows from numbers alone; every claim has a check, and every check a claim."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from lindrop.base.errors import UserError
from lindrop.claims.assess import Assessed, assess, total
from lindrop.claims.check_files import write_checks
from lindrop.claims.checks import (
    CHARITABLE,
    CORRECTED,
    COUNTEREXAMPLE,
    EXTENSION,
    Check,
    at_most,
    equal,
)
from lindrop.claims.register import read_paper, read_papers
from lindrop.claims.summary import summary
from lindrop.claims.tables import described, markdown, scorecard
from lindrop.claims.verdicts import ACCUSING, MEANING, Verdict, verdict
from lindrop.papers.catalogue import PAPERS
from support.checks import figures_of
from support.repository import REPOSITORY
from support.rules import rules

SCHEMA = REPOSITORY / "workflow" / "lindrop" / "schemas" / "claims.schema.yaml"
CLAIMS = {
    paper.id: paper
    for paper in read_papers(
        [REPOSITORY / "config" / "claims" / f"{name}.yaml" for name in PAPERS], SCHEMA
    )
}
HOLDS, FAILS = {"computed": 1.0}, {"computed": 2.0}
UNKNOWN = {"computed": np.nan}
RESTLESS = {"at_rest": False}
RIGHT, FAIR, AGAINST, MORE = (
    {"form": form} for form in (CORRECTED, CHARITABLE, COUNTEREXAMPLE, EXTENSION)
)
OTHER, SYNTHETIC, PUBLISHED = ({"data": name} for name in ("other", "synthetic", "published"))


def a_check(**values):
    return Check(
        **{"claim": "c", "what": "w", "relation": "equal to", "expected": 1, "tolerance": 0.1}
        | values
    )


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([HOLDS], Verdict.REPRODUCED),
        ([HOLDS, HOLDS | RIGHT], Verdict.REPRODUCED),
        ([HOLDS, HOLDS | AGAINST], Verdict.REPRODUCED),
        ([HOLDS, FAILS | RIGHT], Verdict.REPRODUCED),
        ([HOLDS, HOLDS | MORE], Verdict.EXTENDED),
        ([HOLDS, HOLDS | MORE, FAILS | MORE], Verdict.REPRODUCED),
        ([FAILS, HOLDS | MORE], Verdict.NOT_REPRODUCED),
        ([FAILS, HOLDS | FAIR], Verdict.REPRODUCED),
        ([FAILS, HOLDS | FAIR, HOLDS | RIGHT], Verdict.REPRODUCED),
        ([FAILS, HOLDS | FAIR, FAILS | FAIR, HOLDS | RIGHT], Verdict.CORRECTED),
        ([FAILS], Verdict.NOT_REPRODUCED),
        ([HOLDS, FAILS], Verdict.NOT_REPRODUCED),
        ([HOLDS, FAILS, HOLDS | RIGHT], Verdict.CORRECTED),
        ([HOLDS | RIGHT], Verdict.CORRECTED),
        ([FAILS, FAILS | RIGHT], Verdict.NOT_REPRODUCED),
        ([FAILS, HOLDS | AGAINST], Verdict.REFUTED),
        ([FAILS, HOLDS | AGAINST, FAILS | AGAINST], Verdict.NOT_REPRODUCED),
        ([FAILS, HOLDS | RIGHT, HOLDS | AGAINST], Verdict.CORRECTED),
        ([UNKNOWN], Verdict.NOT_RUN),
        ([HOLDS, UNKNOWN], Verdict.NOT_RUN),
        ([HOLDS | OTHER], Verdict.IN_SHAPE),
        ([HOLDS | OTHER, HOLDS | MORE | OTHER], Verdict.IN_SHAPE),
        ([FAILS | OTHER], Verdict.OTHERWISE),
        ([FAILS | OTHER, HOLDS | RIGHT | OTHER], Verdict.OTHERWISE),
        ([UNKNOWN | OTHER], Verdict.NOT_RUN),
        ([HOLDS | SYNTHETIC], Verdict.NOT_RUN),
        ([FAILS | SYNTHETIC], Verdict.NOT_RUN),
        ([HOLDS | PUBLISHED, FAILS | OTHER, FAILS | SYNTHETIC], Verdict.REPRODUCED),
        ([FAILS | PUBLISHED, HOLDS | OTHER], Verdict.NOT_REPRODUCED),
        ([HOLDS | OTHER, FAILS | SYNTHETIC], Verdict.IN_SHAPE),
        ([], Verdict.NOT_RUN),
        ([HOLDS | RESTLESS], Verdict.UNDECIDED),
        ([FAILS | RESTLESS], Verdict.UNDECIDED),
        ([HOLDS, HOLDS | RESTLESS], Verdict.UNDECIDED),
        ([HOLDS | OTHER | RESTLESS], Verdict.UNDECIDED),
        ([HOLDS | OTHER, HOLDS | OTHER, FAILS | OTHER | RESTLESS], Verdict.UNDECIDED),
        ([FAILS, HOLDS | RESTLESS], Verdict.NOT_REPRODUCED),  # fails without that fit
        ([FAILS | OTHER, HOLDS | OTHER | RESTLESS], Verdict.OTHERWISE),
        ([FAILS, HOLDS | FAIR | RESTLESS], Verdict.UNDECIDED),
        ([HOLDS, HOLDS | RIGHT | RESTLESS], Verdict.REPRODUCED),
        ([HOLDS, HOLDS | MORE | RESTLESS], Verdict.UNDECIDED),
        ([UNKNOWN | RESTLESS], Verdict.NOT_RUN),
        ([HOLDS | SYNTHETIC | RESTLESS], Verdict.NOT_RUN),
    ],
)
def test_a_verdict_follows_from_the_checks(checks, expected):
    assert verdict([a_check(**values) for values in checks], accused=True) == expected


def test_without_an_accusation_no_numbers_call_a_claim_wrong():
    for form in (RIGHT, AGAINST):
        found = [a_check(**values) for values in (FAILS, HOLDS | form)]
        assert verdict(found) == Verdict.NOT_REPRODUCED
        assert verdict(found, accused=True) in ACCUSING
        assert verdict([a_check(**HOLDS), *found[1:]], accused=True) == Verdict.REPRODUCED


def test_an_undecided_claim_shows_the_check_that_leaves_it_open():
    found = [a_check(**HOLDS, what="sound"), a_check(**HOLDS, **RESTLESS, what="open")]
    claim = Assessed(None, tuple(found), Verdict.UNDECIDED)
    assert claim.telling.what == "open"
    assert described(claim.telling).endswith("undecided (a fit is not at rest)")
    assert Assessed(None, tuple(found), Verdict.REPRODUCED).telling.what == "sound"


def test_every_verdict_is_explained():
    assert set(MEANING) == set(Verdict)


ACCUSATION = {"quote": "q", "line": 3, "charitable": "c", "fails": "f"}


def claims_file(tmp_path, of_erratum=(), **changes):
    claim = {
        "where": "Lemma 1",
        "kind": "lemma",
        "says": "a|b",
        "checks": ["one"],
        "tolerance": 0.1,
    }
    erratum = {"kind": "error", "where": "Lemma 1", "printed": "p", "holds": "c"} | ACCUSATION
    erratum |= {"checks": ["one"]} | dict(of_erratum)
    content = {"title": "T", "authors": "A", "venue": "V", "claims": {"lemma_1": claim | changes}}
    file = tmp_path / "paper2000.yaml"
    file.write_text(yaml.safe_dump(content | {"errata": {"E1": erratum}}), encoding="utf-8")
    return file


def assessed(tmp_path, checks, **changes):
    (tmp_path / "paper2000").mkdir(exist_ok=True)
    if checks:
        write_checks(tmp_path / "paper2000" / "checks.json", checks)
    (paper,) = read_papers([claims_file(tmp_path, **changes)], SCHEMA)
    return assess(paper, tmp_path.glob("*/*.json"))


def test_a_changed_result_changes_the_verdict_of_its_claim_and_erratum(tmp_path):
    printed, corrected = equal("one", "w", 2, 1, 0.1), equal("one", "w", 1, 1, 0.1, CORRECTED)
    found = assessed(tmp_path, [printed, corrected], accusation="E1")
    assert {entry.verdict for entry in (*found.claims, *found.errata)} == {Verdict.CORRECTED}
    holds = equal("one", "w", 1, 1, 0.1)
    assert assessed(tmp_path, [holds], accusation="E1").claims[0].verdict == "reproduced"
    assert assessed(tmp_path, [printed], accusation="E1").claims[0].verdict == "not reproduced"


def test_the_scorecard_says_what_holds_instead_or_beyond(tmp_path):
    fails, holds = equal("one", "w", 2, 1, 0.1), equal("one", "w", 1, 1, 0.1)
    for form, expected in ((CORRECTED, "corrected"), (COUNTEREXAMPLE, "refuted")):
        checks = [fails, equal("one", "w", 1, 1, 0.1, form)]
        found = assessed(tmp_path, checks, instead="b", accusation=ACCUSATION)
        (line,) = scorecard([found]).to_dict("records")
        assert (line["verdict"], line["holds"]) == (expected, "b")
        (line,) = scorecard([assessed(tmp_path, checks, instead="b")]).to_dict("records")
        assert (line["verdict"], line["holds"]) == ("not reproduced", "")
    fair = [fails, equal("one", "w", 1, 1, 0.1, CHARITABLE)]
    for accusation, shown in (({}, "b"), ({"accusation": ACCUSATION}, "")):
        (line,) = scorecard([assessed(tmp_path, fair, instead="b", **accusation)]).to_dict(
            "records"
        )
        assert (line["verdict"], line["holds"]) == ("reproduced", shown)
    more = [holds, equal("one", "w", 1, 1, 0.1, EXTENSION)]
    (line,) = scorecard([assessed(tmp_path, more, extension="m")]).to_dict("records")
    assert (line["verdict"], line["holds"]) == ("reproduced and extended", "m")


def test_without_its_file_a_claim_is_not_run_and_says_what_to_run(tmp_path):
    found = assessed(tmp_path, [], run="make deep")
    assert found.claims[0].verdict == Verdict.NOT_RUN
    (line,) = scorecard([found]).to_dict("records")
    assert (line["run"], line["evidence"], line["checks"]) == ("make deep", "", 0)


def test_what_to_run_is_said_only_where_it_was_not(tmp_path):
    found = assessed(tmp_path, [equal("one", "w", 1, 1)], run="make deep")
    assert scorecard([found])["run"].tolist() == [""]


def test_a_check_looser_than_its_claim_allows_is_an_error(tmp_path):
    assessed(tmp_path, [equal("one", "w", 50, 100, 10)])
    with pytest.raises(UserError, match=r"claims/paper2000.yaml: lemma_1: .* 0.11, more than 0.1"):
        assessed(tmp_path, [equal("one", "w", 50, 100, 11)])


def test_a_check_that_no_claim_names_is_refused_with_one_line(tmp_path):
    for checks in ([equal("one", "w", 1, 1), equal("two", "w", 1, 1)], [equal("two", "w", 1, 1)]):
        with pytest.raises(UserError) as refused:
            assessed(tmp_path, checks)
        file = tmp_path / "paper2000" / "checks.json"
        message = f"{file}: no claim in config/claims/paper2000.yaml names two"
        assert str(refused.value) == message


def test_checks_of_another_paper_are_left_out(tmp_path):
    (tmp_path / "paper1999").mkdir()
    write_checks(tmp_path / "paper1999" / "checks.json", [equal("two", "w", 1, 1)])
    found = assessed(tmp_path, [equal("one", "w", 1, 1)])
    assert [check.claim for check in found.claims[0].checks] == ["one"]


def test_the_checks_of_a_claim_may_be_in_the_files_of_several_jobs(tmp_path):
    (tmp_path / "paper2000").mkdir()
    write_checks(tmp_path / "paper2000" / "fig1.json", [equal("one", "in a figure", 2, 1)])
    found = assessed(tmp_path, [equal("one", "without", 1, 1)])
    assert {check.what for check in found.claims[0].checks} == {"in a figure", "without"}
    assert found.claims[0].verdict == Verdict.NOT_REPRODUCED


def test_the_tables_of_a_paper(tmp_path):
    found = assessed(tmp_path, [at_most("one", "gap", 0.123456, 0.1, 0.01)])
    (line,) = scorecard([found]).to_dict("records")
    assert line["evidence"] == "gap (as printed): 0.1235, at most 0.1 ± 0.01: fails"
    assert (line["verdict"], line["hold"], line["errata"]) == ("not reproduced", 0, "E1")
    assert summary([line]) == "1 claims of 1 papers: 1 not reproduced."
    text = markdown([found])
    assert r"a\|b" in text
    assert described(found.claims[0].checks[0]) in text
    assert total([found, found])[Verdict.NOT_REPRODUCED] == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "guess"}, "claims.lemma_1.kind: 'guess'"),
        ({"checks": []}, "claims.lemma_1.checks"),
        ({"verdict": "reproduced"}, "claims.lemma_1: .*'verdict' was unexpected"),
        ({"tolerance": -1}, "claims.lemma_1.tolerance"),
        ({"accusation": "E2"}, "claims.lemma_1.accusation: E2 is no erratum of an error"),
        ({"accusation": {"quote": "q"}}, "claims.lemma_1.accusation: 'charitable' is a required"),
        ({"accusation": "all of it"}, "claims.lemma_1.accusation: 'all of it' does not match"),
        ({"of_erratum": {"kind": "slip"}}, "errata.E1.kind: 'slip' is not one of"),
        ({"of_erratum": {"kind": "misprint"}}, "errata.E1: an error, and only an error, says"),
    ],
)
def test_claims_that_do_not_follow_the_schema_are_refused(tmp_path, changes, message):
    with pytest.raises(UserError, match=message):
        read_paper(claims_file(tmp_path, **changes), yaml.safe_load(SCHEMA.read_text()))


def written_by_rules(paper):
    """Names of the jobs of a paper whose checks rules write."""
    files = [Path(file) for rule in rules() for file in rule.output]
    folder = Path("results", "experiments", paper)
    return [file.stem for file in files if file.suffix == ".json" and file.parent == folder]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_that_decides_claims_has_a_file_of_checks(paper):
    """Which claims these files decide is compared with config/claims in tests/papers."""
    written = written_by_rules(paper)
    assert len(written) == len(set(written))
    deciding = figures_of(paper)
    assert set(written) - {"experiments"} == {"checks", *deciding}
    assert ("experiments" in written) == (paper == "steck2020")


def test_every_paper_has_a_file_of_claims_and_every_file_a_paper():
    files = (REPOSITORY / "config" / "claims").glob("*.yaml")
    assert sorted(PAPERS) == sorted(file.stem for file in files)


def test_every_erratum_is_there_and_explained():
    errata = [erratum.id for paper in CLAIMS.values() for erratum in paper.errata]
    assert sorted(errata, key=lambda name: int(name[1:])) == [f"E{k}" for k in range(1, 23)]
    text = (REPOSITORY / "docs" / "errata.md").read_text(encoding="utf-8")
    for name in errata:
        assert f"\n### {name}: " in text


def test_an_erratum_belongs_to_a_claim():
    for paper in CLAIMS.values():
        of_claims = {name for claim in paper.claims for name in claim.checks}
        for erratum in paper.errata:
            assert set(erratum.checks) & of_claims, erratum.id


def test_figures_and_tables_of_claims_are_made_by_a_rule():
    made = {file for rule in rules() for file in rule.output}
    for paper in CLAIMS.values():
        for claim in paper.claims:
            for name in claim.figures:
                assert f"results/figures/{name}.png" in made, (paper.id, claim.id, name)
            for name in claim.tables:
                assert f"results/tables/{name}.csv" in made, (paper.id, claim.id, name)
