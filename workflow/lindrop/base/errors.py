"""Exceptions whose message is written for the user."""


class UserError(Exception):
    """A problem that the user can fix.

    The message is one line: what is wrong, where, and what to do about it.
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class Unsolvable(UserError):
    """Raised when a model cannot be fitted with these parameters but may be with others."""
