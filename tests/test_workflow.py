"""What a user types and sees: Snakemake run for real in a copy of the project."""

import csv
import http.server
import os
import re
import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from conftest import Project, copy_project
from files import ratings_csv, write_zip

GENERATED = Path(__file__).parent / "generated"
TABLE = "results/tables/steck2020_table1_datasets"
SMALL = """
datasets:
  small:
    source: {format: synthetic, preset: demo, users: 400, items: 60, interactions: 6000}
    protocol: {heldout_users: 50}
"""
RATINGS = """
datasets:
  ratings:
    %s
    source: {format: movielens, %s}
    protocol: {min_rating: 3.5, min_user_interactions: 3, min_item_users: 2, heldout_users: 12}
"""


def rows(project):
    with project.path(f"{TABLE}.csv").open() as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


def rules_run(output):
    return re.findall(r"^(?:local)?rule (\w+):", output, re.MULTILINE)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The default configuration, run by the line that the README gives."""
    project = Project(copy_project(tmp_path_factory.mktemp("finished")))
    project.first_output = project.ok("snakemake --cores 8")
    return project


def test_the_line_that_a_user_types_runs_the_default(finished):
    assert "(100%) done" in finished.first_output
    (row,) = rows(finished).values()
    assert row["dataset"] == "demo"
    assert row["source"] == "synthetic"
    assert int(row["users"]) > 2 * int(row["heldout_users"]) == 20_000
    assert row["paper_items"] == row["paper_users"] == row["paper_interactions"] == ""
    assert "demo" in finished.path(f"{TABLE}.md").read_text()
    assert r"\begin{tabular}" in finished.path(f"{TABLE}.tex").read_text()


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in finished.ok("snakemake --cores 8")


def test_every_job_leaves_its_log_and_its_benchmark(finished):
    jobs = set(rules_run(finished.first_output)) - {"all"}
    for kind, end in (("logs", "log"), ("benchmarks", "tsv")):
        files = finished.path(f"results/{kind}").rglob(f"*.{end}")
        stages = {file.relative_to(finished.path(f"results/{kind}")).parts[0] for file in files}
        assert jobs <= {stage.removesuffix(f".{end}") for stage in stages}


def test_heavy_rules_take_every_core(project):
    project.write("config/small.yaml", SMALL)
    output = project.ok("snakemake -n --cores 5 --configfile config/small.yaml")
    jobs = re.split(r"\n(?=rule )", output)
    threads = {
        rules_run(job)[0]: int(re.search(r"threads: (\d+)", job)[1]) if "threads:" in job else 1
        for job in jobs
        if rules_run(job)
    }
    assert threads["generate_interactions"] == threads["split"] == 5
    assert threads["steck2020_table1_datasets"] == 1


def test_the_report_has_every_table_with_its_caption(finished):
    finished.ok("snakemake --cores 1 --report results/report.html")
    report = finished.path("results/report.html").read_text()
    assert "steck2020_table1_datasets" in report
    assert "Data-set properties as in the last rows of Table 1" in report


@pytest.mark.parametrize("slash", ["", "/"])
def test_published_csv_of_a_movielens_archive(slash, project):
    archive = write_zip(
        project.path("ml.zip"), {"ml/ratings.csv": (GENERATED / "ratings.csv").read_text()}
    )
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", f"path: {archive.name}"))
    project.ok(f"snakemake --cores 2 results/data/ratings/csv{slash} --configfile config/mine.yaml")
    folder = project.path("results/data/ratings/csv")
    written = {f.name: f.read_bytes() for f in folder.iterdir() if f.name[0] != "."}
    assert written == {file.name: file.read_bytes() for file in (GENERATED / "expected").iterdir()}


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """A web server with the generated ratings as ml-20m.zip, and what it was asked for."""
    folder = tmp_path_factory.mktemp("mirror")
    write_zip(folder / "ml-20m.zip", {"ml/ratings.csv": (GENERATED / "ratings.csv").read_text()})
    (folder / "page.zip").write_text("<!DOCTYPE html><html>Moved</html>")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=str(folder))
    )
    server.folder, server.asked = folder, asked
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_download_verify_and_compare(project, mirror):
    """A verified file is compared with the paper, another protocol or file is not."""
    import hashlib

    archive = mirror.folder / "ml-20m.zip"
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    source = f"url: {mirror.url}/ml-20m.zip, sha256: {sha256}"
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", source))
    run = "snakemake --cores 2 --configfile config/mine.yaml"
    project.ok(run)
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
    project.ok(run)
    assert rows(project)["ratings"]["paper_items"] == "20,108"

    asked = len(mirror.asked)
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", f"url: {mirror.url}/ml-20m.zip"))
    project.ok(run)
    assert rows(project)["ratings"]["source"] == "unverified"
    assert rows(project)["ratings"]["paper_items"] == ""
    assert len(mirror.asked) > asked

    counts = f"url: {mirror.url}/ml-20m.zip, rows: 1408, users: 90, items: 60"
    project.write("config/mine.yaml", RATINGS % ("paper: ML-20M", counts))
    project.ok(run)
    assert rows(project)["ratings"]["source"] == "verified by counts"

    project.write("config/mine.yaml", RATINGS % ("", counts.replace("1408", "1409")))
    output = project.fails(run)
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
        project.ok("snakemake --cores 2 --configfile config/mine.yaml --config data_dir=have")
    assert len(mirror.asked) == asked
    assert not project.path("results/downloads").exists()


def test_nothing_is_downloaded_that_is_not_asked_for(project, mirror):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", f"url: {mirror.url}/ml-20m.zip")
    project.write("config/both.yaml", both)
    asked = len(mirror.asked)
    project.ok("snakemake --cores 2 results/data/small/split.h5 --configfile config/both.yaml")
    assert len(mirror.asked) == asked


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("url: %s/page.zip", "a web page instead of the file"),
        ("url: %s/nothing.zip", "the server answered 404"),
        ("url: %s/ml-20m.zip, bytes: 17", "bytes instead of 17"),
        (f"url: %s/ml-20m.zip, md5: '{'0' * 32}'", f"instead of {'0' * 32}"),
    ],
)
def test_a_download_that_fails_says_why_and_leaves_nothing(source, expected, project, mirror):
    project.write("config/mine.yaml", RATINGS % ("", source % mirror.url))
    output = project.fails("snakemake --cores 2 --configfile config/mine.yaml")
    (line,) = {line for line in output.splitlines() if line.startswith("lindrop: error:")}
    assert expected in line
    assert "set `path` or `data_dir`" in line
    assert "Traceback" not in output
    assert not any(file.is_file() for file in project.path("results/downloads").rglob("*"))


def test_a_local_file_with_a_wrong_checksum(project):
    write_zip(project.path("ml-20m.zip"), {"ml/ratings.csv": ratings_csv()})
    source = f"path: ml-20m.zip, sha256: '{'0' * 64}'"
    project.write("config/mine.yaml", RATINGS % ("", source))
    output = project.fails("snakemake --cores 2 --configfile config/mine.yaml")
    assert "lindrop: error: ml-20m.zip: sha256 " in output
    assert "Traceback" not in output


def test_more_held_out_users_than_users_in_a_run(project):
    project.write("mine.csv", "user,item\n" + "".join(f"{u},{i}\n" for u in "abcdef" for i in "xy"))
    project.write(
        "config/mine.yaml",
        "datasets: {mine: {source: {format: csv, path: mine.csv}, protocol: {heldout_users: 3}}}",
    )
    output = project.fails("snakemake --cores 2 --configfile config/mine.yaml")
    assert "lindrop: error: heldout_users is 3 for validation and again for test" in output
    assert "Traceback" not in output
    assert not project.path("results/data/mine/split.h5").exists()
    # mended, it goes on from where it stopped
    project.write(
        "config/mine.yaml",
        "datasets: {mine: {source: {format: csv, path: mine.csv}, protocol: {heldout_users: 2}}}",
    )
    assert "read_interactions" not in rules_run(
        project.ok("snakemake --cores 2 --configfile config/mine.yaml")
    )
    assert rows(project)["mine"]["users"] == "6"


def test_a_mistake_in_the_configuration_stops_before_any_job(project):
    project.write("config/mine.yaml", SMALL.replace("heldout_users", "heldout_user"))
    output = project.fails("snakemake --cores 2 --configfile config/mine.yaml")
    assert "did you mean heldout_users?" in output
    assert "Traceback" not in output
    assert [file.name for file in project.path("results").iterdir()] == [".gitkeep"]


def test_a_configuration_given_by_hand_replaces_the_default(project):
    project.write("config/small.yaml", SMALL)
    project.ok("snakemake --cores 2 --configfile config/small.yaml")
    assert set(rows(project)) == {"small"}


def test_the_seed_decides_the_synthetic_data(project):
    project.write("config/small.yaml", SMALL)
    split = project.path("results/data/small/split.h5")
    contents = []
    for option in ("", "--config seed=2", "--config seed=1"):
        project.ok(f"snakemake --cores 2 --configfile config/small.yaml {option}")
        contents.append(split.read_bytes())
    assert contents[0] == contents[2] != contents[1]


def test_a_changed_module_reruns_the_rules_that_use_it(project):
    project.write("config/small.yaml", SMALL)
    run = "snakemake --cores 2 --configfile config/small.yaml"
    project.ok(run)
    module = project.path("workflow/lindrop/tables.py")
    module.write_text(module.read_text() + "\n# changed\n")
    assert set(rules_run(project.ok(run))) == {"steck2020_table1_datasets", "all"}
    module = project.path("workflow/lindrop/data/split.py")
    module.write_text(module.read_text() + "\n# changed\n")
    assert "split" in rules_run(project.ok(run))


# Fault injection from outside: a module that Python imports at start lets the job of one file hang
# just before its output is complete, where it is then killed.
HANG = """
import os, time
fsync = os.fsync
def hang(descriptor):
    name = os.readlink(f"/proc/self/fd/{descriptor}")
    if os.environ["HANG_AT"] in name:
        open(os.environ["HANG_MARK"], "w").close()
        time.sleep(120)
    fsync(descriptor)
os.fsync = hang
"""
KILLED = {
    "fetch": "ml-20m.zip",
    "verify_source": "source.json",
    "read_interactions": "interactions.h5",
    "generate_interactions": "small/.interactions.h5",
    "split": "split.h5",
    "published_csv": "train.csv",
    "steck2020_table1_datasets": "steck2020_table1_datasets.md",
}


@pytest.mark.parametrize(
    ("rule", "victim"),
    [*((rule, "everything") for rule in KILLED), ("split", "the job"), ("fetch", "the job")],
)
def test_killed_in_the_middle_of_a_rule(rule, victim, project, finished_both, mirror):
    """SIGKILL of the job or of Snakemake with it: a rerun gives what an undisturbed run gives."""
    prepare(project, mirror)
    kill_at(KILLED[rule], victim, project)
    assert not any(file.name == KILLED[rule] for file in project.path("results").rglob("*"))
    if victim == "everything":  # Snakemake's own lock is left: it says so, and how to remove it
        assert "--unlock" in project.fails(COMMAND)
        project.ok(f"{COMMAND} --unlock")
    project.ok(COMMAND)
    assert contents(project) == finished_both
    leftovers = [file for file in project.path("results").rglob("*") if ".part" in file.name]
    assert leftovers == []


def kill_at(file, victim, project):
    """Start a run, wait until the job that makes `file` is about to finish it, and kill."""
    mark = project.path("hanging")
    project.write("faults/sitecustomize.py", HANG)
    process = subprocess.Popen(
        COMMAND.split(),
        cwd=project.folder,
        env=project.env
        | {
            "PYTHONPATH": str(project.path("faults")),
            "HANG_AT": file,
            "HANG_MARK": str(mark),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not mark.exists():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if victim == "everything":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        for pid in children(process.pid):
            os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0


COMMAND = (
    "snakemake --cores 2 all results/data/small/csv results/data/ratings/csv "
    "--configfile config/both.yaml --profile workflow/profiles/local"
)


def prepare(project, mirror):
    both = SMALL + RATINGS.replace("datasets:\n", "") % ("", f"url: {mirror.url}/ml-20m.zip")
    project.write("config/both.yaml", both)


@pytest.fixture(scope="module")
def finished_both(tmp_path_factory, mirror):
    project = Project(copy_project(tmp_path_factory.mktemp("both")))
    prepare(project, mirror)
    project.ok(COMMAND)
    return contents(project)


def contents(project):
    """Every result but logs and timings."""
    results = project.path("results")
    return {
        str(file.relative_to(results)): file.read_bytes()
        for folder in ("data", "tables")
        for file in (results / folder).rglob("*")
        if file.is_file()
    }


def children(pid):
    """Processes below `pid`, the job and what it started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if re.search(rf"^PPid:\t{pid}$", text, re.MULTILINE):
            child = int(status.parent.name)
            found += [child, *children(child)]
    return found
