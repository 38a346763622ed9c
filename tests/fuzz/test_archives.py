"""Damaged archives and parquet files: the same rows as before the damage, or one line."""

import gzip
import io
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from hypothesis import strategies as st

from lindrop.data.formats import read_interactions
from support.files import films, ratings_csv, tar_of, write_netflix_tar, write_zip
from support.fuzzing import fuzzed, outcome

ROWS = [(str(u), str(i), "4") for u in range(1, 25) for i in range(1 + u % 3, 30, u)]
edits = st.lists(
    st.tuples(
        st.sampled_from(["flip", "zero", "insert", "delete", "cut"]),
        st.integers(0, 10**6),
        st.integers(0, 255),
    ),
    min_size=0,
    max_size=4,
)


def damaged(data, edits, low=0, high=None):
    """The bytes after some of them were changed; only those from `low` to before `high`."""
    data = bytearray(data)
    for kind, place, value in edits:
        at = low + place % max(1, (high or len(data)) - low)
        if kind == "flip" and at < len(data):
            data[at] ^= 1 << value % 8
        elif kind == "zero":
            data[at : at + value % 16] = bytes(value % 16)
        elif kind == "insert":
            data[at:at] = bytes([value] * (1 + value % 8))
        elif kind == "delete":
            del data[at : at + 1 + value % 8]
        elif kind == "cut":
            del data[at:]
    return bytes(data)


def made(write):
    """The bytes of a file that a function writes."""
    with tempfile.TemporaryDirectory() as folder:
        return write(Path(folder) / "file").read_bytes()


def packed(text, path):
    path.write_bytes(gzip.compress(text.encode()))
    return path


INNER = tar_of({f"training_set/mv_{int(k):07d}.txt": t.encode() for k, t in films(ROWS).items()})
FILES = {
    "zip": ("movielens", made(lambda p: write_zip(p, {"ml/ratings.csv": ratings_csv(ROWS)}))),
    "gz": ("movielens", made(lambda path: packed(ratings_csv(ROWS), path))),
    "tar.gz": ("netflix", made(lambda path: write_netflix_tar(path, films(ROWS)))),
    "gz of a tar": ("netflix", gzip.compress(INNER)),
    "zip of films": ("netflix", made(lambda p: write_zip(p, {"mv_0000001.txt": "1:\n12,4,x\n"}))),
}


def read(data, format, **options):
    """Pairs of user and item in a file of these bytes, or the line with which it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        found, message = outcome(read_interactions, path, format, **options)
        assert message is None or str(path) in message
    if found is None:
        return None, message
    users, items = found.user_ids[found.user], found.item_ids[found.item]
    return list(zip(users, items, strict=True)), None


WHOLE = {name: read(data, format)[0] for name, (format, data) in FILES.items()}


@fuzzed(4000, name=st.sampled_from(sorted(FILES)), edits=edits, ends=st.booleans())
def test_archives_with_checksums(name, edits, ends):
    """Their checksums tell a damage of what is inside, so there is no third outcome."""
    format, data = FILES[name]
    low = max(0, len(data) - 200) if ends else 0  # where zips have their directory
    pairs, message = read(damaged(data, edits, low), format)
    assert pairs in (None, WHOLE[name]), message
    return pairs is not None


@fuzzed(2500, edits=edits)
def test_headers_of_a_tar_without_checksum(edits):
    """What the headers of members say is checked by their own sums; contents have none."""
    pairs, _ = read(damaged(INNER, edits), "netflix")
    return pairs is not None


FRAME = pd.DataFrame({"user": [u for u, _, _ in ROWS], "item": [int(i) for _, i, _ in ROWS]})
FRAME["rating"] = 4.5
TABLES = {}
for compression in ("none", "snappy", "zstd"):
    for version in ("1.0", "2.0"):
        buffer = io.BytesIO()
        table = pa.Table.from_pandas(FRAME)
        pa.parquet.write_table(
            table, buffer, compression=compression, data_page_version=version, row_group_size=50
        )
        TABLES[compression, version] = buffer.getvalue()


@fuzzed(
    5000,
    kind=st.sampled_from(sorted(TABLES)),
    edits=edits,
    ends=st.booleans(),
    min_rating=st.sampled_from([None, 3.5]),
)
def test_parquet(kind, edits, ends, min_rating):
    """Rows as Arrow reads the same file at once, else as before the damage, or one line."""
    data = TABLES[kind]
    data = damaged(data, edits, max(0, len(data) - 2500) if ends else 0)
    options = {"rating": "rating"} if min_rating else {}
    pairs, message = read(data, "parquet", min_rating=min_rating, **options)
    if pairs is None:
        return False
    whole = data
    try:
        table = pa.parquet.read_table(io.BytesIO(whole), columns=["user", "item", *options])
    except (pa.ArrowException, OSError):  # read_table looks at more of the footer: then nothing
        whole = TABLES[kind]  # of the rows may be damaged
        table = pa.parquet.read_table(io.BytesIO(whole), columns=["user", "item", *options])
    right = [
        (row["user"], str(row["item"]))
        for row in table.to_pylist()
        if min_rating is None or row["rating"] > min_rating
    ]
    assert pairs == right, message
    return True
