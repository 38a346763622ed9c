"""Python processes of the tests that begin with the libraries loaded: forks of one that waits.

A run of Snakemake starts one Python for itself and one for every job, and most of what they do on
the data of tests is to import the same libraries. So a project of the tests has a folder in front
of its PATH whose `snakemake` and `python` ask a server, which has imported them, for a fork with
their own arguments, environment, folder and files. Nothing of lindrop is loaded before the fork.
And what a run measures before it fits, the memory of a job without data, is measured once.

A `snakemake` that is given a PYTHONPATH is no fork: Python runs modules of it when it starts.
All forks have the seed of Python's hashes in common: a test of what two runs have in common begins
one of them as a user does.
"""

import atexit
import gc
import marshal
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

KNOWN = "LINDROP_BASELINE"  # in the environment: what lindrop.models.baseline measures
SERVER = "LINDROP_TESTS_FORKS"  # in the environment: where the server listens
LOADED = """
snakemake.cli snakemake.api snakemake.workflow snakemake.dag snakemake.script snakemake.benchmark
snakemake.scheduling.job_scheduler snakemake.executors.local snakemake.executors.dryrun pulp
numpy pandas scipy.linalg scipy.optimize scipy.sparse.linalg scipy.special scipy.stats numba
h5py pyarrow.csv pyarrow.compute pyarrow.parquet pyarrow.dataset threadpoolctl
matplotlib.figure matplotlib.backends.backend_agg matplotlib.backends.backend_pdf
yaml jsonschema jinja2 tabulate requests rich.console rich.progress
"""
# Asks for a fork and waits for its end. It passes signals on, and ends as the fork did.
ASK = f"""#!{sys.executable} -IS
import _socket, array, marshal, os, signal, sys
folder, name = os.path.split(sys.argv[0])
server, first = os.environ.get("{SERVER}"), sys.argv[1:2]
known = "PYTHONPATH" not in os.environ if name == "snakemake" else first and (
    first[0] in ("-c", "-m") or first[0][0] != "-")
if not (server and known):
    path = os.environ.get("PATH", os.defpath).split(":")
    os.environ["PATH"] = ":".join(each for each in path if each != folder)
    real = os.path.join({str(Path(sys.executable).parent)!r}, name)
    os.execv(real, [real, *sys.argv[1:]])
asked = marshal.dumps((sys.argv, os.getcwd(), dict(os.environ)))
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect(server)
files = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
connection.sendmsg([len(asked).to_bytes(4, "little")], files)
connection.sendall(asked)
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: connection.send(bytes([number])))
ended = int.from_bytes(connection.recv(4) or bytes([1]), "little", signed=True)
if ended < 0:
    if ended != -signal.SIGKILL:
        signal.signal(-ended, signal.SIG_DFL)
    os.kill(os.getpid(), -ended)
os._exit(ended)
"""


def environment(path):
    """What makes the processes of a project forks, in front of this PATH."""
    folder, _ = server()
    from lindrop.models.baseline import baseline_bytes  # not in forks

    known = {KNOWN: f"{baseline_bytes():.0f}"}
    return {"PATH": f"{folder}{os.pathsep}{path}", SERVER: str(folder / "server")} | known


@cache
def server():
    """Folder of the commands that ask for forks, and the server, which ends with this process."""
    from support import processes  # not in forks

    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    for name in ("snakemake", "python"):
        (folder / name).write_text(ASK)
        (folder / name).chmod(0o755)
    usual = {key: value for key, value in os.environ.items() if not key.startswith("PYTHONPATH")}
    started = subprocess.Popen(
        [sys.executable, __file__, folder],
        env=usual | {"MPLCONFIGDIR": str(Path(sys.executable).parents[1] / "matplotlib")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert started.stdout.readline(), "the server of forks does not start"
    processes.HELPERS.add(started.pid)
    return folder, started


def serve(folder):
    """Fork for whoever asks; returns in the forks only, with what was asked."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "server"))
    listener.listen(100)
    print("listening", flush=True)
    for name in LOADED.split():
        import_module(name)
    gc.freeze()
    os.fsync = without_waiting
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    forks, waiting = {}, selectors.DefaultSelector()
    for source in (listener, woken, sys.stdin):
        waiting.register(source, selectors.EVENT_READ)

    def ended():
        """Tell those who asked how their forks ended."""
        os.read(woken, 1000)
        while forks and (found := os.waitpid(-1, os.WNOHANG))[0]:
            connection = forks.pop(found[0])
            with suppress(KeyError):
                waiting.unregister(connection)
            with suppress(OSError):
                code = os.waitstatus_to_exitcode(found[1])
                connection.sendall(code.to_bytes(4, "little", signed=True))
            connection.close()

    def passed_on(connection, fork):
        """Send a fork the signals that came for it; whoever asked and is gone takes it along."""
        if signals := connection.recv(100):
            for number in signals:
                os.kill(fork, number)
        else:
            waiting.unregister(connection)
            os.killpg(fork, signal.SIGKILL)

    while True:
        for key, _ in waiting.select():
            if key.fileobj is woken:
                ended()
            elif key.fileobj is sys.stdin:
                for fork in forks:
                    os.killpg(fork, signal.SIGKILL)
                shutil.rmtree(folder)
                sys.exit()
            elif key.fileobj is listener:
                connection, _ = listener.accept()
                asked, files = read(connection)
                if not (fork := os.fork()):
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.setpgid(0, 0)
                    for number, file in enumerate(files):
                        os.dup2(file, number)
                    waiting.close()
                    for opened in (listener, connection, *forks.values()):
                        opened.close()
                    os.closerange(3, max(woken, wake, *files) + 1)
                    return asked
                os.setpgid(fork, fork)
                for file in files:
                    os.close(file)
                forks[fork] = connection
                waiting.register(connection, selectors.EVENT_READ, fork)
            elif key.data in forks:
                passed_on(key.fileobj, key.data)


def without_waiting(file):
    """In the place of os.fsync: what tests write need not outlive the machine's power.

    A disk can take a tenth of a second for each file, and the tests write thousands.
    """


def read(connection):
    """Arguments, folder and environment of whoever asks, and its three open files."""
    size, files, _, _ = socket.recv_fds(connection, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(size, "little"):
        asked += connection.recv(1 << 20)
    return marshal.loads(asked), files


def whole(command, folder, environment):
    """A fork from beginning to end, as Python has it, but for freeing memory bit by bit."""
    try:
        begin(command, folder, environment)
        code = 0
    except SystemExit as asked:
        code = asked.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 255)


def begin(command, folder, environment):
    """Do what Python would do that begins with this command line."""
    name, arguments = Path(command[0]), command[1:]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    own = Path(sys.executable).parent
    sys.executable = str(name.with_name("python"))  # by which Snakemake starts jobs
    import_module("numpy.random").seed()  # no two processes draw the same numbers unless they seed
    more = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = ["", *map(os.path.abspath, more)]
    if name.name == "snakemake":
        sys.path[0], sys.argv = str(own), [str(own / "snakemake"), *arguments]
        sys.exit(import_module("snakemake.cli").main())
    if arguments[0] == "-m":
        sys.path[0], sys.argv = folder, arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path[0], sys.argv = str(Path(arguments[0]).resolve().parent), arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its modules are no others' libraries
    whole(*serve(Path(sys.argv[1])))
