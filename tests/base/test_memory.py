"""How much memory is available, and what is said where it is too little."""

import pytest

import lindrop.base.memory
from lindrop.base.errors import UserError
from lindrop.base.memory import RETRIED, available_bytes, require_memory, retry_gets_more


def fake_system(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 90 kB\nMemFree: 7 kB\nMemAvailable:   80 kB\nHugePages: 0\n"}
V2 = {
    "proc/self/cgroup": "0::/job/step\n",
    "sys/fs/cgroup/job/step/memory.max": "max\n",
    "sys/fs/cgroup/job/step/memory.current": "10000\n",
    "sys/fs/cgroup/job/memory.max": "50000\n",
    "sys/fs/cgroup/job/memory.current": "30000\n",
    "sys/fs/cgroup/job/memory.stat": "anon 20000\ninactive_file 3000\nactive_file 1000\n",
}
V1 = {
    "proc/self/cgroup": "4:cpu,cpuacct:/job\n3:memory:/job\n",
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "20000",
    "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "12000",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**63 - 4096),
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "12000",
}


@pytest.mark.parametrize(
    ("files", "available"),
    [
        ({}, float("inf")),
        (MEMINFO, 80 * 1024),
        (MEMINFO | V2, 24_000),
        (MEMINFO | V1, 8_000),
        (MEMINFO | V2 | {"sys/fs/cgroup/job/memory.max": "90000000"}, 80 * 1024),
    ],
    ids=["unknown", "machine", "cgroup v2", "cgroup v1", "limit above the machine's"],
)
def test_the_lowest_limit_counts(files, available, tmp_path):
    assert available_bytes(fake_system(tmp_path, files)) == available


@pytest.mark.parametrize(
    ("files", "needed", "more"),
    [
        (V2, 24_001, True),
        (V2, 24_000, False),
        (V2 | {"proc/meminfo": "MemTotal: 97 kB\n"}, 24_001, False),
        (V1, 8_001, True),
        ({}, 1e12, False),
    ],
    ids=["cgroup v2", "room enough", "no larger machine", "cgroup v1", "no limit"],
)
def test_a_retry_gets_more_where_the_limit_is_that_of_a_job(
    files, needed, more, tmp_path, monkeypatch
):
    system = fake_system(tmp_path, {"proc/meminfo": "MemTotal: 98 kB\n"} | files)
    assert not retry_gets_more(needed, system)
    monkeypatch.setenv(RETRIED, "with more memory")
    assert retry_gets_more(needed, system) == more


def test_too_little_memory_is_one_line(monkeypatch):
    monkeypatch.setattr(lindrop.base.memory, "available_bytes", lambda: 8e9)
    require_memory(7.9e9, "fitting EASE")
    with pytest.raises(UserError, match=r"^fitting EASE needs 12\.3 GB, 8\.0 GB are available; "):
        require_memory(12.3e9, "fitting EASE")
