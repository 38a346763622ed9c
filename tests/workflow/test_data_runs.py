"""Datasets in a run: local or downloaded, verified or not, compared with the paper or not."""

import hashlib
import os
import shutil

import pandas as pd
import pytest

from support import processes
from support.configurations import GENERATED, QUICK, RATINGS, SMALL, TABLE, errors, rows, rules_run
from support.files import ratings_csv, write_zip
from support.project import Project
from support.repository import copy_project

# The table of a dataset, all that led to it, and no drawing.
DESCRIBE = f"snakemake {TABLE}.csv --cores 2 --configfile config/mine.yaml"


def test_published_csv_of_a_movielens_archive(project):
    archive = write_zip(
        project.path("ml.zip"), {"ml/ratings.csv": (GENERATED / "ratings.csv").read_text()}
    )
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", f"path: {archive.name}"))
    folder, expected = "results/data/ratings/csv", (GENERATED / "expected").iterdir()
    expected = {file.name: file.read_bytes() for file in expected}
    for name in (f"{folder}/", folder):
        project.ok(f"snakemake --cores 2 {name} --configfile config/mine.yaml")
        files = project.path(folder).iterdir()
        assert {f.name: f.read_bytes() for f in files if f.name[0] != "."} == expected
        shutil.rmtree(project.path(folder))


def test_download_verify_and_compare(project, mirror):
    """A verified file is compared with the paper, another protocol or file is not."""
    archive = mirror.folder / "ml-20m.zip"
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    source = f"url: {mirror.url}/ml-20m.zip, sha256: {sha256}"
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", source))
    project.ok(DESCRIBE)
    assert rows(project)["ratings"]["source"] == "verified by sha256"
    assert rows(project)["ratings"]["paper_items"] == ""  # not the published protocol

    values = "config/paper_values/steck2020_datasets.yaml"
    text = project.path(values).read_text()
    project.write(
        values,
        text.replace(
            "min_rating: 3.5, min_user_interactions: 5, min_item_users: 0, heldout_users: 10000",
            "min_rating: 3.5, min_user_interactions: 3, min_item_users: 2, heldout_users: 12",
        ),
    )
    project.ok(DESCRIBE)
    assert rows(project)["ratings"]["paper_items"] == "20,108"

    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", f"url: {mirror.url}/ml-20m.zip"))
    project.ok(DESCRIBE)
    label = "unverified (checked: length sent by the server)"
    assert rows(project)["ratings"]["source"] == label
    assert rows(project)["ratings"]["paper_items"] == ""

    counts = f"url: {mirror.url}/ml-20m.zip, rows: 1408, users: 90, items: 60"
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", counts))
    project.ok(DESCRIBE)
    assert rows(project)["ratings"]["source"] == "verified by counts"

    project.write("config/mine.yaml", RATINGS % ("", counts.replace("1408", "1409")))
    output = project.fails(DESCRIBE)
    assert "1,408 rows instead of 1,409" in output


def test_data_dir_is_used_instead_of_a_download(project, mirror):
    project.write("config/mine.yaml", RATINGS % ("", f"url: {mirror.url}/ml-20m.zip"))
    asked = len(mirror.asked)
    for folder in ("have", "have/ratings"):
        target = project.path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for old in project.path("have").rglob("*.zip"):
            old.unlink()
        (target / "ml-20m.zip").write_bytes((mirror.folder / "ml-20m.zip").read_bytes())
        project.ok(f"{DESCRIBE} --config data_dir=have")
    assert len(mirror.asked) == asked
    assert not project.path("results/downloads").exists()


def test_nothing_is_downloaded_that_is_not_asked_for(project, mirror):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", f"url: {mirror.url}/ml-20m.zip")
    project.write("config/both.yaml", both)
    asked = len(mirror.asked)
    project.ok("snakemake --cores 2 results/data/small/split.h5 --configfile config/both.yaml")
    assert len(mirror.asked) == asked


def test_files_that_are_refused(project, mirror):
    """Each says why in a line of its own; downloads say what to do instead, and leave nothing."""
    write_zip(project.path("local.zip"), {"ml/ratings.csv": ratings_csv()})
    for name in ("short.zip", "other.zip"):
        shutil.copy(mirror.folder / "ml-20m.zip", mirror.folder / name)
    sources = {
        "moved": ("url: %s/page.zip", "a web page instead of the file"),
        "absent": ("url: %s/nothing.zip", "the server answered 404"),
        "short": ("url: %s/short.zip, bytes: 17", "bytes instead of 17"),
        "other": (f"url: %s/other.zip, md5: '{'1' * 32}'", f"instead of {'1' * 32}"),
        "local": (f"path: local.zip, sha256: '{'0' * 64}'", "dataset local: local.zip: sha256 "),
    }
    entries = [
        RATINGS.replace("datasets:\n", "").replace("ratings:", f"{name}:")
        % ("", source.replace("%s", mirror.url))
        for name, (source, _) in sources.items()
    ]
    project.write("config/mine.yaml", "datasets:" + "".join(entries))
    output = project.fails("snakemake data --keep-going --cores 2 --configfile config/mine.yaml")
    lines = errors(output)
    assert len(lines) == len(sources)
    for name, (_, expected) in sources.items():
        (line,) = [line for line in lines if expected in line]
        assert ("set `path` or `data_dir`" in line) == (name != "local")
    assert "Traceback" not in output
    assert not any(file.is_file() for file in project.path("results/downloads").rglob("*"))


def test_more_held_out_users_than_users_in_a_run(project):
    """The last lines of a run say what failed."""
    project.write("mine.csv", "user,item\n" + "".join(f"{u},{i}\n" for u in "abcdef" for i in "xy"))
    project.write(
        "config/mine.yaml",
        "datasets: {mine: {source: {format: csv, path: mine.csv}, protocol: {heldout_users: 3}}}",
    )
    output = project.fails("snakemake data --cores 2 --configfile config/mine.yaml")
    (line,) = [line for line in output.splitlines()[-8:] if line.startswith("lindrop: error:")]
    assert "dataset mine: heldout_users is 3 for validation and again for test" in line
    assert "results/logs/split/mine.log" in line
    assert "Traceback" not in output
    assert not project.path("results/data/mine/split.h5").exists()
    # a bug has such a line, too, and the error of the earlier run is not said again
    script = project.path("workflow/scripts/split.py")
    sound = script.read_text()
    script.write_text(sound.replace(" as log:", " as log:\n    log.nonsense"))
    output = project.fails("snakemake data --cores 2 --configfile config/mine.yaml")
    (line,) = [line for line in output.splitlines() if line.startswith("lindrop: error:")]
    assert line in output.splitlines()[-8:]
    assert "dataset mine: unexpected AttributeError: " in line
    assert "a bug in lindrop, please report it" in line
    assert "results/logs/split/mine.log" in line
    script.write_text(sound)
    # without the bug, the run goes on from where it stopped
    project.write(
        "config/mine.yaml",
        "datasets: {mine: {source: {format: csv, path: mine.csv}, protocol: {heldout_users: 2}}}",
    )
    assert "read_interactions" not in rules_run(project.ok(DESCRIBE))
    assert rows(project)["mine"]["users"] == "6"


MINE = """
datasets:
  mine:
    source: {format: csv, path: mine.csv, user: %s, item: %s}
    protocol: {heldout_users: 4, min_user_interactions: %d, min_item_users: %d}
"""


def test_keys_that_swap_their_values_are_seen(project):
    """Snakemake compares the set of a rule's parameters: values alone would look unchanged."""
    lines = [f"{u},{i}\n" for u in range(30) for i in range(u % 5 + 1, 12)]
    project.write("mine.csv", "a,b\n" + "".join(lines))
    seen = []
    for settings in (("a", "b", 9, 0), ("b", "a", 9, 0), ("b", "a", 0, 9)):
        project.write("config/mine.yaml", MINE % settings)
        project.ok(DESCRIBE)
        row = rows(project)["mine"]
        seen.append((int(row["users"]), int(row["items"]), int(row["interactions"])))
    assert seen[0][0] == 18  # users 0, 1, 2 of every five have nine rows and more
    assert seen[1][0] == 10  # the columns swapped: items 2 to 11 have nine rows and more
    assert len(set(seen)) == 3


def test_a_file_that_changes_in_a_folder_is_seen(project):
    folder = project.path("films")
    folder.mkdir()
    for film in range(1, 8):
        lines = "".join(f"{user},5,2005-09-06\n" for user in range(film, 30))
        project.write(f"films/mv_{film:07d}.txt", f"{film}:\n{lines}")
    project.write(
        "config/mine.yaml",
        "datasets: {mine: {source: {format: netflix, path: films}, protocol: {heldout_users: 5}}}",
    )
    project.ok(DESCRIBE)
    before = int(rows(project)["mine"]["interactions"])
    with (folder / "mv_0000003.txt").open("a") as file:
        file.write("778,4,2005-09-06\n")
    project.ok(DESCRIBE)
    assert int(rows(project)["mine"]["interactions"]) == before + 1


def test_a_folder_of_parquet_files_is_one_set(project):
    project.path("events").mkdir()
    for part in range(3):
        users = [user for user in range(10 * part, 10 * part + 10) for _ in range(8)]
        frame = pd.DataFrame({"user": users, "item": [row % 17 for row in range(80)]})
        frame.to_parquet(project.path(f"events/part-{part}.parquet"))
    project.write(
        "config/mine.yaml",
        "datasets: {mine: {source: {format: parquet, path: events}, protocol: {heldout_users: 5}}}",
    )
    project.ok(DESCRIBE)
    found = rows(project)["mine"]
    assert (int(found["users"]), int(found["interactions"])) == (30, 240)
    log = project.path("results/logs/read_interactions/mine.log").read_text()
    assert "reading 3 files of events" in log
    project.path("events/part-1.parquet").unlink()
    project.ok(DESCRIBE)
    assert int(rows(project)["mine"]["users"]) == 20
    project.path("events/part-2.parquet").write_bytes(b"PAR1")
    (line,) = errors(project.fails(DESCRIBE))
    assert "dataset mine: events/part-2.parquet: not a readable parquet file" in line


def test_what_is_no_reason_to_download_again(project, mirror):
    """Neither new code, nor another mirror, nor a stated fact: the file is there and whole."""
    entry = f"url: {mirror.url}/ml-20m.zip"
    project.write("config/mine.yaml", RATINGS % ("", entry))
    project.ok(DESCRIBE)
    asked = len(mirror.asked)
    module = project.path("workflow/lindrop/data/archives.py")
    module.write_text(module.read_text() + "\nCHANGED = True\n")
    size = (mirror.folder / "ml-20m.zip").stat().st_size
    facts = f"{entry}, mirrors: ['http://127.0.0.1:9/ml-20m.zip'], bytes: {size}"
    project.write("config/mine.yaml", RATINGS % ("", facts))
    output = project.ok(DESCRIBE)
    assert "verify_source" in rules_run(output)
    assert "fetch" not in rules_run(output)
    assert len(mirror.asked) == asked


def test_a_failure_stays_a_failure(project):
    """The same command again fails again: no older result hides that a newer one is missing."""
    lines = [f"{u},{i}\n" for u in range(30) for i in range(u % 5 + 1, 12)]
    good, sound = "a,b\n" + "".join(lines), ("a", "b", 0, 0)
    run = "snakemake --cores 2 %s --configfile config/mine.yaml"
    files = "results/data/mine/csv"

    def use(csv=good, settings=sound, config=MINE):
        project.write("mine.csv", csv)
        project.write("config/mine.yaml", config % settings)

    def stays_a_failure(first, then):
        for target in (first, first, then):
            assert len(errors(project.fails(run % target))) == 1

    use()
    project.ok(run % f"data {files}")
    use(settings=("a", "wrong", 0, 0))
    stays_a_failure("data", files)
    use(settings=("a", "b", 99, 0))
    stays_a_failure(files, "data")
    use(csv=f"{good}1,2,3\n")
    stays_a_failure("data", files)
    use()
    project.ok(run % files)
    use(config=MINE.replace("path: mine.csv", f"path: mine.csv, sha256: '{'0' * 64}'"))
    stays_a_failure(files, "data")


def test_a_fit_that_fails_with_a_new_seed_stays_a_failure(project):
    """The table of the earlier seed must not hide the failure."""
    rows = "".join(f"{u},{i}\n" for u in range(60) for i in range(u % 5 + 1, 12))
    project.write("mine.csv", f"user,item\n{rows}")
    one_model = "compare: {models: [popularity], budget: null}\n"
    project.write("config/mine.yaml", MINE % ("user", "item", 0, 0) + one_model)
    run = "snakemake --cores 2 results/tables/compare.csv --configfile config/mine.yaml"
    project.ok(run)
    log = project.path("results/logs/fit/mine/popularity.log")
    log.unlink()
    log.mkdir()  # a folder in the place of the log, so that the job fails
    (log / "file").touch()  # Snakemake would delete an empty folder
    for _ in range(2):
        assert "Error in rule fit" in project.fails(f"{run} --config seed=7")
    shutil.rmtree(log)
    assert rules_run(project.ok(f"{run} --config seed=7")) == ["fit", "compare_table"]


def test_a_file_replaced_by_an_older_one_is_seen(project):
    project.write("config/mine.yaml", MINE % ("a", "b", 0, 0))
    for users in (20, 30):
        project.write(
            "mine.csv", "a,b\n" + "".join(f"{u},{i}\n" for u in range(users) for i in "xy")
        )
        os.utime(project.path("mine.csv"), (10**9, 10**9))
        project.ok(DESCRIBE)
        assert int(rows(project)["mine"]["users"]) == users


def test_a_folder_with_a_space_is_refused(tmp_path):
    folder = tmp_path / "my project"
    done = processes.run(["make", "-C", copy_project(folder)])
    assert done.returncode != 0
    assert "clone into a folder whose path has no space" in done.stdout
    assert not (folder / ".venv").exists()


def test_a_folder_with_braces_is_refused(tmp_path):
    """Snakemake would take them for a wildcard, and end in a traceback."""
    (tmp_path / "{b}").mkdir()
    said = Project(copy_project(tmp_path / "{b}")).fails("snakemake --dry-run")
    assert "lindrop: error: " in said
    assert "Snakemake takes braces in a path for wildcards" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("place", ["results", "results/data", "results/data/small"])
def test_a_file_where_a_folder_of_results_belongs(place, project):
    shutil.rmtree(project.path("results"), ignore_errors=True)
    project.write("config/small.yaml", SMALL)
    project.write(place, "")
    said = project.fails("snakemake data --cores 1 --configfile config/small.yaml")
    assert errors(said) == {
        f"lindrop: error: {place}: a file where a folder of results belongs; move it away"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a {b: *a}", "line 1: contains itself by an alias; write it out"),
        ("seed: " + "[" * 2000 + "]" * 2000, "line 1: nested more than 40 levels deep"),
        ("datasets: {010: {}}", "line 1: the key 010 is read as a YAML int; quote the name: '010'"),
    ],
    ids=["endless", "deep", "number"],
)
def test_a_default_configuration_is_checked_before_snakemake_reads_it(text, expected, project):
    project.write("config/config.yaml", text)
    said = project.fails("snakemake --dry-run")
    assert errors(said) == {f"lindrop: error: config/config.yaml, {expected}"}
    assert "Traceback" not in said


def test_a_failed_download_stays_a_failure(project, mirror):
    """Neither the old file nor old results pass for those of a new address."""
    bad = "userId,movieId,rating,timestamp\n1,2,3\n"
    write_zip(mirror.folder / "bad.zip", {"ratings.csv": bad})
    model, files = "results/metrics/ratings/ease.h5", "results/data/ratings/csv"
    run = "snakemake --cores 2 %s --configfile config/mine.yaml"
    config = f"{QUICK}{RATINGS % ('', '%s')}models: {{ease: {{lambda: [10, 100]}}}}"

    def use(address):
        project.write("config/mine.yaml", config % f"url: {mirror.url}/{address}")

    use("ml-20m.zip")
    project.ok(run % f"{model} {files}")
    for address, first, then in (("nowhere/ml-20m.zip", model, files), ("bad.zip", files, model)):
        use(address)
        for target in (first, first, then):
            assert len(errors(project.fails(run % target))) == 1
    use("ml-20m.zip")
    project.ok(run % f"{model} {files}")
    assert "Nothing to be done" in project.ok(run % f"{model} {files}")


def test_a_failed_generation_stays_a_failure(project):
    project.write("config/small.yaml", SMALL)
    run = "snakemake --cores 2 results/data/small/csv --configfile config/small.yaml"
    project.ok(run)
    obstacle = project.path("results/data/small/.interactions.h5.partial")
    obstacle.mkdir()
    project.fails(f"{run} --config seed=2")
    obstacle.rmdir()
    assert "generate_interactions" in rules_run(project.ok(f"{run} --config seed=2"))


def test_results_whose_records_are_gone_are_refused(project):
    """Snakemake would call them up to date, whatever the configuration says."""
    project.write("config/mine.yaml", SMALL)
    command = "snakemake --cores 2 results/data/small/split.h5 --configfile config/mine.yaml"
    project.ok(command)
    assert "Nothing to be done" in project.ok(command)
    project.write("config/mine.yaml", SMALL.replace("heldout_users: 50", "heldout_users: 40"))
    shutil.rmtree(project.path(".snakemake"))
    (error,) = errors(project.fails(command))
    assert "results: Snakemake's records of how these results were made are not in" in error
    shutil.rmtree(project.path("results/data"))
    project.ok(command)
    assert "Nothing to be done" in project.ok(command)
