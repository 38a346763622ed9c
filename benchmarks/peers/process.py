"""Measurements in a separate process with limits on time and memory."""

import json
import resource
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Limits of a process: wall time and memory."""

    seconds: float
    memory: float  # bytes


def measured(command: list[str], env: Mapping[str, str], limits: Limits) -> dict[str, Any]:
    """Report that a command prints as JSON in its last line.

    If the command fails, the report is its reason, `did_not_finish`.
    """

    def limit_memory() -> None:
        most = int(limits.memory)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    try:
        done = subprocess.run(
            command,
            env=dict(env),
            timeout=limits.seconds,
            preexec_fn=limit_memory,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return {"did_not_finish": f"more than {limits.seconds:,.0f} s"}
    if done.returncode:
        return {"did_not_finish": reason(done)}
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def reason(done: subprocess.CompletedProcess[str]) -> str:
    """Why a process failed: its signal, its last words or its exit code."""
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    said = done.stderr.strip().splitlines()
    return said[-1][:200] if said else f"exit code {done.returncode}"


def script(name: str) -> str:
    """Path of a script in the folder fits."""
    return str(Path(__file__).parent / "fits" / f"{name}.py")
