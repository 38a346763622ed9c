"""The error message of a file that cannot be read."""

import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions


def message_of(path, format, **options):
    """The message with which a file is refused, which must be one line and name the file."""
    with pytest.raises(UserError) as caught:
        read_interactions(path, format, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message
