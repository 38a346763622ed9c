"""Forks do what Python and Snakemake would do, for whoever asks for one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.processes import processor_seconds, wait_until
from support.project import Project

CODE = """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ["ONE"], input(), "numpy" in sys.modules)
print("wrong", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def folder(tmp_path):
    return Project(tmp_path)


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("as_file", [True, False])
def test_arguments_folder_environment_files_and_code_are_those_of_whoever_asks(
    real, as_file, tmp_path
):
    folder = Project(tmp_path, real)
    folder.write("code.py", CODE)
    python = "python code.py" if as_file else "python -c \"exec(open('code.py').read())\""
    done = folder.run(f"echo two | {python} 3 'a b'", ONE="1")
    assert done.returncode == 3
    assert set(done.stdout.splitlines()) == {
        f"['3', 'a b'] {folder.folder} 1 two {not real}",
        "wrong",
    }


def test_ends_are_those_of_python(folder):
    assert folder.fails("python -c 'import sys; sys.exit(\"gone\")'") == "gone\n"
    assert "ValueError: no" in folder.fails("python -c 'raise ValueError(\"no\")'")
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        code = f"import os; os.kill(os.getpid(), {number:d})"
        done = subprocess.run(["python", "-c", code], env=folder.env, cwd=folder.folder)
        assert done.returncode == -number
    assert folder.ok("python -m this").startswith("The Zen of Python")
    assert folder.ok("snakemake --version").count(".") == 2


WAITS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
open("began", "w").write(str(os.getpid()))
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 5), (signal.SIGKILL, -9)])
def test_a_signal_reaches_the_fork_and_whoever_is_killed_takes_it_along(number, code, folder):
    folder.write("waits.py", WAITS)
    process = subprocess.Popen(["python", "waits.py"], env=folder.env, cwd=folder.folder)
    began = folder.path("began")
    wait_until(lambda: began.exists() and began.read_text(), process)
    process.send_signal(number)
    assert process.wait() == code
    fork = Path("/proc", began.read_text())
    while fork.exists():
        time.sleep(0.01)


def test_no_two_forks_draw_the_same_random_numbers(folder):
    code = "import random, numpy.random; print(random.random(), numpy.random.random())"
    first, second = (folder.ok(f"python -c '{code}'").split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_nothing_of_lindrop_is_loaded_and_modules_are_found_as_ever(folder):
    folder.write("code.py", "import sys; print({name.split('.')[0] for name in sys.modules})")
    assert not {"lindrop", "support", "snakemake_logger_plugin_lindrop"} & eval(
        folder.ok("python code.py")
    )
    folder.write("code.py", "import sys; print(sys.path)")
    for command in ("python code.py", "python -m code", "python -c 'import sys; print(sys.path)'"):
        fork, real = (Project(folder.folder, real).ok(command) for real in (False, True))
        assert fork.replace(", '.snakemake/pip-deployments'", "") == real  # which Snakemake adds


def test_work_of_a_fork_is_work_of_whoever_waits_for_it(folder):
    folder.write("works.py", "import time\nwhile time.process_time() < 0.5: pass")
    process = subprocess.Popen(["python", "works.py"], env=folder.env, cwd=folder.folder)
    before = processor_seconds(process.pid)
    process.wait()
    assert processor_seconds(process.pid) - before > 0.3


def test_the_server_ends_with_whoever_started_it():
    code = "from support import forks; print(*forks.server()[0].parts, forks.server()[1].pid)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    *folder, server = done.stdout.split()
    while Path("/proc", server).exists():
        time.sleep(0.01)
    assert not Path(*folder).exists()
