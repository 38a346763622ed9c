"""Results whose records are gone are refused, as Snakemake would take them for up to date."""

import shutil
from pathlib import Path

import pytest

from lindrop.base.errors import UserError
from lindrop.base.records import mark, require_records

RESULTS = Path("results")
REFUSED = r"results: Snakemake's records of how these results were made are not in \.snakemake"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A working directory with a result and the records of the run that made it."""
    monkeypatch.chdir(tmp_path)
    require_records(RESULTS)
    mark(RESULTS)
    for file in (RESULTS / "data/a/split.h5", Path(".snakemake/metadata/record")):
        file.parent.mkdir(parents=True)
        file.touch()
    return tmp_path


def test_results_beside_their_records_are_good(made):
    require_records(RESULTS)
    mark(RESULTS)
    require_records(RESULTS)


def test_results_without_their_records_are_refused(made):
    shutil.rmtree(".snakemake")
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)
    (RESULTS / ".mark").unlink()
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)


def test_results_of_other_runs_are_refused(made, monkeypatch):
    other = made / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    mark(RESULTS)
    shutil.copytree(made / "results", other / "results", dirs_exist_ok=True)
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)


def test_a_run_that_starts_without_results_has_records_of_its_own(made):
    shutil.rmtree(".snakemake")
    shutil.rmtree(RESULTS / "data")
    (RESULTS / "downloads").mkdir()
    (RESULTS / "downloads" / "ml-1m.zip").touch()
    require_records(RESULTS)
    mark(RESULTS)
    (RESULTS / "scorecard.html").touch()
    require_records(RESULTS)


@pytest.mark.parametrize("text", ["", "../../metadata", "\0" * 16, "é" * 16])
def test_a_mark_that_is_none_counts_as_absent(text, made):
    (RESULTS / ".mark").write_text(text)
    require_records(RESULTS)
    shutil.rmtree(".snakemake/metadata")
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)
