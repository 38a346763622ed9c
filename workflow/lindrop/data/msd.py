"""Read the Million Song Dataset's Taste Profile: user, song and play count, tab-separated."""

from pathlib import Path

from lindrop.data.archives import only_member
from lindrop.data.delimited import Layout, read_member
from lindrop.data.interactions import Interactions
from lindrop.data.tables import Columns

LAYOUT = Layout("\t", ["user", "song", "play_count"], quoted=False)
COLUMNS = Columns("user", "song", "play_count")
FILES = r"train_triplets\.txt"


def read(path: Path, min_rating: float | None) -> Interactions:
    """Read train_triplets.txt, plain or zipped; play counts are used only if min_rating is set."""
    member = only_member(path, FILES, "train_triplets.txt")
    return read_member(member, LAYOUT, COLUMNS, min_rating)
