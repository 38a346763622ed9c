"""Times written as dates."""

from datetime import UTC, datetime

from lindrop.base.errors import UserError


def time_of_date(text: str) -> float:
    """Seconds from 1970 to a date such as 2000-12-31 or 2000-12-31T23:59:59, in UTC if not said."""
    try:
        date = datetime.fromisoformat(text)
    except ValueError as error:
        raise UserError(
            f"cut {text!r} is no date such as 2000-12-31 or 2000-12-31T23:59:59"
        ) from error
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
