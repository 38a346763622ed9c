"""The memory that is available, and the check before a fit starts that it is enough."""

import os
from pathlib import Path

from lindrop.base.errors import UserError

# files of cgroup v2 and v1: limit, usage, and the lines of memory.stat with reclaimable file cache
CGROUP_FILES = (
    ("memory.max", "memory.current", ("inactive_file", "active_file")),
    (
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_inactive_file", "total_active_file"),
    ),
)
# set in the environment of cluster jobs: if such a job fails, its next attempt gets more memory
RETRIED = "LINDROP_RETRIED"


def require_memory(bytes_needed: float, what: str) -> None:
    """Raise UserError if the memory is not available; `what` names the work: 'fitting EASE'."""
    available = available_bytes()
    if bytes_needed > available:
        raise UserError(
            f"{what} needs {bytes_needed / 1e9:,.1f} GB, {available / 1e9:,.1f} GB are available; "
            "keep fewer items (raise min_item_users), free some memory or use a larger machine"
        )


def available_bytes(root: Path = Path("/")) -> float:
    """Bytes of memory available on this machine and within the limits of a container or a job.

    Infinite if the system does not report any; tests pass another `root`.
    """
    room = [_of_machine("MemAvailable:", root), *(room for _, room in _limits(root))]
    return max(0.0, min(room))


def retry_gets_more(bytes_needed: float, root: Path = Path("/")) -> bool:
    """Whether the memory limit of a cluster job, not the machine, prevents the work.

    True only if the job is retried with more memory: the next attempt requests up to twice the
    limit, so a machine like this one must have that much.
    """
    limit, room = min(_limits(root), default=(float("inf"), float("inf")))
    fits_machine = 2 * limit <= _of_machine("MemTotal:", root)
    return RETRIED in os.environ and room < bytes_needed and fits_machine


def _of_machine(what: str, root: Path) -> float:
    """Bytes that /proc/meminfo reports for the entry `what`; infinite if it has no such entry."""
    found = [1024.0 * size for key, size in _numbers(root / "proc/meminfo") if key == what]
    return min(found, default=float("inf"))


def _limits(root: Path) -> list[tuple[float, float]]:
    """Limit and remaining room, in bytes, of each of this process's cgroups that has a limit."""
    return [
        limit
        for group in _cgroups(root)
        for files in CGROUP_FILES
        if (limit := _limit_of(group, *files)) is not None
    ]


def _cgroups(root: Path) -> list[Path]:
    """Folders of this process's cgroups and of their ancestors, each of which can set a limit."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    groups = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            mount = root / "sys/fs/cgroup" / controllers
            group = mount / path.lstrip("/")
            groups += [group, *(parent for parent in group.parents if parent.is_relative_to(mount))]
    return groups


def _limit_of(
    group: Path, limit: str, usage: str, reclaimable: tuple[str, ...]
) -> tuple[float, float] | None:
    """Limit and remaining room of one cgroup in bytes, or None if it has no limit."""
    try:
        most, used = int((group / limit).read_text()), int((group / usage).read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None
    cache = sum(size for key, size in _numbers(group / "memory.stat") if key in reclaimable)
    return most, most - used + cache


def _numbers(path: Path) -> list[tuple[str, int]]:
    """Pairs of name and number from a file with lines such as 'MemAvailable:  123 kB'."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return []
    return [(words[0], int(words[1])) for words in map(str.split, lines) if len(words) > 1]


def resident_bytes() -> float:
    """Bytes of memory that this process holds now; 0 if the system does not report them."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
