"""How much memory there is, asked before it is needed."""

import os
from pathlib import Path

from lindrop.base.errors import UserError

# limit, usage, and the line of memory.stat with file cache that makes room when asked (v2, v1)
CGROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
# in the environment of a job that a cluster runs: when it fails, its next attempt gets more memory
RETRIED = "LINDROP_RETRIED"

COLUMNS, SPARE = 14, 2400  # vectors of a low-rank solver at its peak: per rank, and in any case


def solver_bytes(items: int, largest_rank: int, matrices: int = 1) -> float:
    """Peak of a fit in float32, beside the interactions; `largest_rank` is 0 at full rank."""
    columns = COLUMNS * largest_rank + SPARE if largest_rank else 0
    return 4.0 * items * (matrices * items + columns)


def job_megabytes(split_bytes: int, items: int, largest_rank: int = 0, matrices: int = 1) -> float:
    """What a job on X'X asks for: Python, the interactions as read, a solver, and some room."""
    return 600 + (10 * split_bytes + 1.1 * solver_bytes(items, largest_rank, matrices)) / 1e6


def require_memory(bytes_needed: float, what: str) -> None:
    """Refuse work that cannot fit, before it starts; `what` names it: 'fitting EASE'."""
    available = available_bytes()
    if bytes_needed > available:
        raise UserError(
            f"{what} needs {bytes_needed / 1e9:,.1f} GB, {available / 1e9:,.1f} GB are available; "
            "keep fewer items (raise min_item_users), free some memory or use a larger machine"
        )


def available_bytes(root: Path = Path("/")) -> float:
    """What Linux counts as available, or less where a container or a cluster job has a limit.

    Infinite where the system does not say (`root` is another one's, in tests).
    """
    room = [_of_machine("MemAvailable:", root), *(room for _, room in _limits(root))]
    return max(0.0, min(room))


def retry_gets_more(bytes_needed: float, root: Path = Path("/")) -> bool:
    """Whether it is the limit of a cluster's job that is in the way, and not the machine.

    The next attempt asks for up to twice as much, which a machine like this one must have.
    """
    limit, room = min(_limits(root), default=(float("inf"), float("inf")))
    fits_machine = 2 * limit <= _of_machine("MemTotal:", root)
    return RETRIED in os.environ and room < bytes_needed and fits_machine


def _of_machine(what: str, root: Path) -> float:
    found = [1024.0 * size for key, size in _numbers(root / "proc/meminfo") if key == what]
    return min(found, default=float("inf"))


def _limits(root: Path) -> list[tuple[float, float]]:
    """Of this process's groups: how much each may have, and what is left of that."""
    return [
        limit
        for group in _cgroups(root)
        for files in CGROUP_FILES
        if (limit := _limit_of(group, *files)) is not None
    ]


def _cgroups(root: Path) -> list[Path]:
    """Folders of this process's groups and of all those around them, each with its own limit."""
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


def _limit_of(group: Path, limit: str, usage: str, reclaimable: str) -> tuple[float, float] | None:
    try:
        most, used = int((group / limit).read_text()), int((group / usage).read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None
    cache = sum(size for key, size in _numbers(group / "memory.stat") if key == reclaimable)
    return most, most - used + cache


def _numbers(path: Path) -> list[tuple[str, int]]:
    """Names and numbers of a file with lines such as 'MemAvailable:  123 kB'."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return []
    return [(words[0], int(words[1])) for words in map(str.split, lines) if len(words) > 1]
