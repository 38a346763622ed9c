"""The command as a process: pipes that close, interrupts, full terminals, and no Snakemake."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from support.models import tasteful

X = tasteful(3000, 40)
LINDROP = Path(sys.executable).with_name("lindrop")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table and a model of it."""
    folder = tmp_path_factory.mktemp("user")
    user, item = X.nonzero()
    pd.DataFrame({"user": user, "item": item}).to_csv(folder / "my.csv", index=False)
    subprocess.run([LINDROP, "-q"], cwd=folder, capture_output=True)
    command = [LINDROP, "fit", "my.csv", "ease", "lambda=10", "-o", "m.h5", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
    return folder


def test_a_reader_that_has_enough_ends_the_command_quietly(folder):
    command = f"{LINDROP} recommend m.h5 my.csv -q | head -2; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    header, first, code = done.stdout.splitlines()
    assert header == "user,item,rank,score,by"
    assert first.startswith("0,")
    assert code == "141"
    assert done.stderr == ""


def test_output_goes_through_a_pipe_whole(folder):
    command = f"{LINDROP} recommend m.h5 my.csv -k 3 -q | sort -u | wc -l"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    assert int(done.stdout) == 3 * 3000 + 1
    assert done.stderr == ""


def test_data_are_utf8_in_every_locale(folder):
    (folder / "names.csv").write_text("user,item\nå,日\nå,本\nü,日\n", encoding="utf-8")
    command = [LINDROP, "fit", "names.csv", "ease", "lambda=10", "-o", "n.h5", "-q"]
    subprocess.run(command, cwd=folder, check=True)
    command = [LINDROP, "recommend", "n.h5", "names.csv", "-q"]
    others = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, cwd=folder, env=others, capture_output=True, check=True)
    assert "ü,本,1," in done.stdout.decode("utf-8")
    assert done.stderr == b""


def test_help_imports_neither_numbers_nor_snakemake(folder):
    code = """
import sys
from lindrop.cli.app import run
assert run(["--help"]) == 0
print(sorted({"numpy", "pandas", "numba", "snakemake"} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_tuning_needs_no_snakemake(folder):
    code = """
import sys
sys.modules["snakemake"] = None
from lindrop.cli.app import run
arguments = ["tune", "my.csv", "--models", "ease", "--grid", "ease.lambda=10", "-o", "t.h5", "-q"]
assert run(arguments) == 0
"""
    subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=True)
    assert (folder / "t.h5").exists()


def test_an_interrupt_is_one_line_and_leaves_no_file(folder):
    grid = "slim.l1=" + ",".join(str(number) for number in range(1, 2000))  # takes minutes
    command = [LINDROP, "tune", "my.csv", "--models", "slim", "--tuning", "grid", "--grid", grid]
    command += ["-o", "never.h5"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        # a shell starts what runs in its background with interrupts ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while "split:" not in (process.stderr.readline() or "split:"):
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert said.splitlines()[-1] == "lindrop: interrupted"
    assert "Traceback" not in said
    assert not [file for file in folder.iterdir() if "never" in file.name]


def test_a_terminal_shows_bars_and_lines_that_stay(folder):
    import pty

    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"}
    command = [LINDROP, "tune", "my.csv", "--models", "popularity,slim", "-o", "s.h5"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 1 << 16)
        except OSError:
            break
    assert process.wait() == 0
    text = said.decode()
    assert "models" in text  # the bar over all models
    assert "━" in text
    assert "slim: ndcg@100" in text
    assert "SLIM is best" in text
