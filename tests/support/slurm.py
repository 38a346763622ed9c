"""A Slurm of two nodes on this machine, for one command: python tests/support/slurm.py COMMAND ...

Everything listens on 127.0.0.1 and lives in a temporary folder, but for the configuration: what a
job of Slurm starts finds that at the system-wide place alone.
"""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIGURATION = Path("/etc/slurm/slurm.conf")
MARK = "# lindrop test cluster of process "
NODES = ("one", "two")
CORES, MEMORY_MB = 2, 8000  # of each node; no machine needs to have them
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scontrol", "scancel")


def obstacle():
    """Why no cluster can be started here, or None."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return f"{missing[0]} is not installed (Debian: apt-get install slurm-wlm munge)"
    if os.geteuid() != 0:
        return "only root can write Slurm's configuration"
    if CONFIGURATION.exists():
        owner = owner_of_configuration()
        if not owner:
            return f"{CONFIGURATION} is of a real cluster and stays as it is"
        if Path(f"/proc/{owner[1]}").exists():
            return f"{CONFIGURATION} is in use by process {owner[1]}"
    return None


def owner_of_configuration():
    """Process and folder of the test cluster that wrote it; nothing if that is not ours."""
    return re.match(f"{MARK}(\\d+) in (.*)\n", CONFIGURATION.read_text(encoding="utf-8"))


class Slurm:
    """`with Slurm() as cluster`: both nodes are idle; afterwards nothing of it is left."""

    def __init__(self):
        if reason := obstacle():
            raise SystemExit(f"lindrop: error: no test cluster: {reason}")
        self.daemons = {}
        if CONFIGURATION.exists():  # what one that was killed left
            _, folder = owner_of_configuration().groups()
            kill(f"LINDROP_CLUSTER={folder}", logs=f"{folder}/")
            shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="lindrop-slurm-"))
        self.folder.chmod(0o755)  # munged demands it
        # inherited by every daemon and job: by this they are found again
        self.sign = f"LINDROP_CLUSTER={self.folder}"
        os.environ["LINDROP_CLUSTER"] = str(self.folder)
        self.made_folder = not CONFIGURATION.parent.exists()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # goes through __exit__
        try:
            self._configure()
            self._start_munge()
            self._start("slurmctld", "slurmctld", "-D")
            for node in NODES:
                self.start_node(node)
            self.wait_for(lambda: set(self.nodes().values()) == {"idle"}, "both nodes idle")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        if jobs := self.jobs() if "slurmctld" in self.daemons else ():
            subprocess.run(["scancel", "--quiet", *jobs], capture_output=True)
            with contextlib.suppress(SystemExit):
                self.wait_for(lambda: not self.jobs(), "end of all jobs", looks=100)
        for process in reversed(self.daemons.values()):
            process.terminate()
        for process in self.daemons.values():
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        kill(self.sign, logs=f"{self.folder}/")  # what a job left behind
        del os.environ["LINDROP_CLUSTER"]
        CONFIGURATION.unlink(missing_ok=True)
        if self.made_folder:
            CONFIGURATION.parent.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _configure(self):
        CONFIGURATION.parent.mkdir(exist_ok=True)
        host, (controller, *ports) = socket.gethostname().partition(".")[0], free_ports(3)
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
            f"CPUs={CORES} RealMemory={MEMORY_MB}"
            for node, port in zip(NODES, ports, strict=True)
        )
        for name in ("controller", *NODES):
            (self.folder / name).mkdir()
        CONFIGURATION.write_text(
            f"""{MARK}{os.getpid()} in {self.folder}
ClusterName=lindrop
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={self.folder}/munge.socket
StateSaveLocation={self.folder}/controller
SlurmdSpoolDir={self.folder}/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/%n.log
MpiDefault=none
AccountingStorageType=accounting_storage/none
# works in any virtual machine or container, without cgroups
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
# a test does not wait as long as a cluster may
SchedulerParameters=sched_interval=2,bf_interval=2
KillWait=3
SlurmdTimeout=10
ReturnToService=2
{nodes}
PartitionName=batch Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
""",
            encoding="utf-8",
        )

    def _start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        places = [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "seed")]
        socket = f"--socket={self.folder}/munge.socket"
        self._start("munged", "munged", "--foreground", socket, *places)
        self.wait_for((self.folder / "munge.socket").exists, "socket of munged")

    def _start(self, name, *command, **environment):
        with (self.folder / f"{name}.out").open("ab") as output:
            self.daemons[name] = subprocess.Popen(
                command,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # an interrupt of the terminal is for us alone
                preexec_fn=die_with_parent,
            )

    def start_node(self, node):
        self._start(node, "slurmd", "-D", "-N", node, LINDROP_NODE=node)

    def power_off(self, node):
        """All that runs on a node ends at once; Slurm notices as it notices a real failure."""
        for sign in (f"LINDROP_NODE={node}", f"SLURMD_NODENAME={node}"):
            kill(sign, logs=f"{self.folder}/{node}.log")
        self.daemons.pop(node).wait()

    def nodes(self):
        """State of each node, as sinfo names it."""
        lines = output_of("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
        return dict(line.split() for line in lines)

    def jobs(self):
        """Ids of the jobs that have not ended."""
        return output_of("squeue", "--noheader", "--format=%A").split()

    def history(self, field):
        """One field, as squeue names it, of all jobs so far, by the comment that names the rule."""
        lines = output_of("squeue", "--noheader", "--states=all", f"--format={field} %k")
        found = {}
        for value, comment in (line.split(" ", 1) for line in lines.splitlines()):
            found.setdefault(comment, set()).add(value)
        return found

    def wait_for(self, condition, what, looks=6000):
        """Wait as long as any daemon logs something from time to time: no machine is too slow."""
        logged, in_vain = 0, 0
        while not condition():
            for name, process in self.daemons.items():
                if process.poll() is not None:
                    raise SystemExit(f"lindrop: error: {name} ended: {self._last_words(name)}")
            before, logged = logged, sum(f.stat().st_size for f in self.folder.glob("*.log"))
            in_vain = 0 if logged != before else in_vain + 1
            if in_vain > looks:
                raise SystemExit(f"lindrop: error: no {what}, and no more in {self.folder}/*.log")
            time.sleep(0.1)

    def _last_words(self, name):
        files = (self.folder / f"{name}.{end}" for end in ("out", "log"))
        lines = [line for file in files if file.exists() for line in file.open()]
        return lines[-1].strip() if lines else "it said nothing"


def output_of(*command):
    """The output of a command, which is empty while it fails, until the controller answers."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def free_ports(number):
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def kill(sign, logs):
    """SIGKILL for every process with a variable in its environment, and each slurmstepd with a log.

    That one has written its title over its environment.
    """
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            signed = sign.encode() in (folder / "environ").read_bytes().split(b"\0")
            is_step = (folder / "comm").read_text() == "slurmstepd\n"
            files = (folder / "fd").iterdir() if is_step else ()
            if signed or any(str(file.readlink()).startswith(logs) for file in files):
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:  # it ended
            continue


def die_with_parent():
    """No daemon outlives the process that started it, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__.splitlines()[0])
    with Slurm():
        return subprocess.call(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
