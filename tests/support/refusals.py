"""What reading a file says that cannot be read."""

import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions


def message_of(path, format, **options):
    """The one line with which a file is refused; it must name the file."""
    with pytest.raises(UserError) as caught:
        read_interactions(path, format, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message
