"""A file that says why there is no result: a model that a budget of minutes has left out.

It takes the place of the result, so that what shows the other models can be made.
"""

from pathlib import Path

from lindrop.base.atomic import atomic
from lindrop.base.errors import UserError

MARK = "lindrop left this out: "


class LeftOut(UserError):
    """Raised for a result, or for a dataset, that a budget of minutes has left without a model."""

    def __init__(self, what: str | Path, reason: str) -> None:
        super().__init__(f"{what}: {reason}")
        self.reason = reason


def write_left_out(path: str | Path, reason: str) -> None:
    """Write, in place of a result, why there is none."""
    with atomic(path) as partial:
        partial.write_text(f"{MARK}{reason}\n", encoding="utf-8")


def why_left_out(path: str | Path) -> str:
    """Why a result was left out; empty if it was not, or if there is no such file."""
    if not Path(path).is_file():
        return ""
    mark = MARK.encode()
    with Path(path).open("rb") as file:
        if file.read(len(mark)) != mark:
            return ""
        return file.read().decode("utf-8", "replace").strip()


def require_result(path: str | Path) -> None:
    """Raise LeftOut if a file says why there is no result."""
    if reason := why_left_out(path):
        raise LeftOut(path, reason)
