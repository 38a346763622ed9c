"""Exceptions whose message is written for the user."""

from pathlib import Path


class UserError(Exception):
    """A problem that the user can fix.

    The message is one line: what is wrong, where, and what to do about it.
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class Damaged(UserError):
    """A stored result is not as it was written; the message says how it is made anew.

    `maker` is a rule or a job, such as `the rule split`.
    """

    def __init__(self, path: str | Path, problem: str, maker: str):
        super().__init__(
            f"{path}: damaged ({problem}): delete it and run again; {maker} makes it anew"
        )
        self.path = Path(path)


class Unsolvable(UserError):
    """Raised when a model cannot be fitted with these parameters but may be with others."""
