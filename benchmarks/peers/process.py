"""One measurement in a process of its own, with a limit for its time and for its memory."""

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
    seconds: float
    memory: float  # bytes


def measured(command: list[str], env: Mapping[str, str], limits: Limits) -> dict[str, Any]:
    """What the command reports in its last line, or why there is nothing: `did_not_finish`."""

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
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    said = done.stderr.strip().splitlines()
    return said[-1][:200] if said else f"exit code {done.returncode}"


def script(name: str) -> str:
    return str(Path(__file__).parent / "fits" / f"{name}.py")
