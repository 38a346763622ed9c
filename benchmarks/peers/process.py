"""Measurements in a separate process with limits on time and memory."""

import json
import resource
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WAITING = 20  # a process that does not use its processor time is ended after so many times as long


@dataclass(frozen=True)
class Limits:
    """Limits of a process."""

    seconds: float  # of the processor, so that other work on the machine does not count
    memory: float  # bytes


def measured(command: list[str], env: Mapping[str, str], limits: Limits) -> dict[str, Any]:
    """Report that a command prints as JSON in its last line.

    If the command fails, the report is its reason, `did_not_finish`.
    """

    def limit() -> None:
        memory, seconds = int(limits.memory), max(1, int(limits.seconds))
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # SIGXCPU, then SIGKILL

    try:
        done = subprocess.run(
            command,
            env=dict(env),
            timeout=WAITING * limits.seconds,
            preexec_fn=limit,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return {"did_not_finish": f"more than {WAITING * limits.seconds:,.0f} s"}
    if done.returncode:
        return {"did_not_finish": reason(done, limits)}
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def reason(done: subprocess.CompletedProcess[str], limits: Limits) -> str:
    """Why a process failed: its limit, its signal, its last words or its exit code."""
    if done.returncode == -signal.SIGXCPU:
        return f"more than {limits.seconds:,.0f} processor seconds"
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    said = done.stderr.strip().splitlines()
    return said[-1][:200] if said else f"exit code {done.returncode}"
