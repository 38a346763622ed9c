"""What a fit took is what its own process took."""

import resource
import subprocess
import sys

from lindrop.base.stopwatch import Stopwatch, peak_bytes
from support.repository import REPOSITORY

HELD = 400_000_000
PEAK = "from lindrop.base.stopwatch import Stopwatch; print(Stopwatch().cost().megabytes)"


def test_what_the_parent_holds_is_not_the_childs():
    held = b"x" * HELD
    command = [sys.executable, "-c", PEAK]
    env = {"PYTHONPATH": str(REPOSITORY / "workflow")}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    assert Stopwatch().cost().megabytes > len(held) / 1e6
    assert 1 < float(done.stdout) < 200


def test_the_peak_stays_when_the_memory_is_given_back():
    assert len(b"x" * HELD) == HELD < peak_bytes()


def test_without_proc_the_peak_is_what_the_system_says(tmp_path, monkeypatch):
    says = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert peak_bytes(tmp_path / "status") >= 1024 * says
    (tmp_path / "status").write_text("Name:\tpython\nVmRSS:\t 1 kB\n")  # gVisor's has no peak
    assert peak_bytes(tmp_path / "status") >= 1024 * says
    monkeypatch.setattr(sys, "platform", "darwin")
    assert 1 <= peak_bytes(tmp_path / "status") / says < 2
