"""The exceptions that a user is meant to read."""


class UserError(Exception):
    """Something the person at the keyboard can put right.

    The message is one line: what is wrong, where, and what to do about it.
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class Unsolvable(UserError):
    """A model that cannot be fitted with these parameters; others may do."""
