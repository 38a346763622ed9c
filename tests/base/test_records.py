"""Results whose records are gone are refused, as Snakemake would take them for up to date."""

import shutil
from pathlib import Path

import pytest

from lindrop.base import records
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


def test_another_folder_under_the_same_path_is_refused(made):
    """Folders of two configurations may take turns under one name, for example behind a link."""
    shutil.move("results", "first")
    require_records(RESULTS)
    mark(RESULTS)
    shutil.move("results", "second")
    shutil.move("first", "results")
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)


@pytest.mark.parametrize("hidden", [True, False])
def test_a_copy_from_before_a_run_is_refused(hidden, made):
    shutil.copytree("results", "copy")
    if not hidden:  # `cp copy/* results` copies no hidden files
        Path("copy/.mark").unlink()
    mark(RESULTS)
    shutil.rmtree("results")
    shutil.move("copy", "results")
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)


def test_a_folder_has_its_mark_whenever_marking_ends(made, monkeypatch):
    """Results are accepted by the next run even if marking failed, as on a full disk."""
    write = records._write
    for count in range(3):
        left = [count]

        def failing(file, text, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise OSError("no space left on device")
            write(file, text)

        monkeypatch.setattr(records, "_write", failing)
        mark(RESULTS)
        require_records(RESULTS)


def test_results_of_two_paths_have_marks_of_their_own(made):
    mark(Path("others"))
    Path("others/scorecard.md").touch()
    require_records(RESULTS)
    require_records(Path("others"))


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
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)
    shutil.rmtree(".snakemake/lindrop")  # versions before marks wrote none
    require_records(RESULTS)
    shutil.rmtree(".snakemake/metadata")
    with pytest.raises(UserError, match=REFUSED):
        require_records(RESULTS)
