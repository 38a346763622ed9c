"""Interactions come back from their file, and a file of anything else is refused."""

import h5py
import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.interactions import Interactions, RawCounts
from lindrop.store.interactions import read_interactions, write_interactions
from lindrop.store.split import read_split

EVENTS = Interactions(
    user=np.array([1, 0, 1], np.int32),
    item=np.array([0, 0, 2], np.int32),
    user_ids=np.array(["a b", "ü"], object),
    item_ids=np.array(["0", "1", "2"], object),
    min_rating=3.5,
    raw=RawCounts(5, 3, 3),
)


def test_interactions_come_back_as_they_were(tmp_path):
    path = tmp_path / "new folder" / "interactions.h5"
    write_interactions(path, EVENTS, {"format": "csv", "verified_by": None})
    again, source = read_interactions(path)
    for name in ("user", "item", "user_ids", "item_ids"):
        np.testing.assert_array_equal(getattr(again, name), getattr(EVENTS, name))
    assert again.user.dtype == np.int32
    assert (again.min_rating, again.raw) == (3.5, EVENTS.raw)
    assert source == {"format": "csv", "verified_by": None}
    assert [file.name for file in path.parent.iterdir()] == ["interactions.h5"]


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("a.h5", "b.h5"):
        write_interactions(tmp_path / name, EVENTS, {"format": "csv"})
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("content", ["text", "foreign", "other kind", "cut short", "absent"])
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    path = tmp_path / "split.h5"
    if content == "text":
        path.write_text("hello")
    elif content == "foreign":
        h5py.File(path, "w").close()
    elif content != "absent":
        write_interactions(path, EVENTS, {})
    if content == "cut short":
        path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UserError, match=rf"{path}: .*(delete it|no such file)") as caught:
        read_split(path)
    assert "\n" not in str(caught.value)
