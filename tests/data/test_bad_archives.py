"""Errors for archives that are damaged, packed in an unsupported way, or hold other files."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import numpy as np
import pytest

from lindrop.base.errors import UserError
from lindrop.data.formats import read_interactions
from support.files import (
    RATINGS,
    cut_short,
    films,
    ratings_csv,
    tar_of,
    write_netflix_tar,
    write_zip,
)
from support.refusals import message_of

LONG = RATINGS * 5000


@pytest.mark.parametrize("keep", [0.02, 0.6, 0.99])
def test_truncated_zip(keep, tmp_path):
    path = cut_short(write_zip(tmp_path / "ml.zip", {"ml/ratings.csv": ratings_csv(LONG)}), keep)
    message = message_of(path, "movielens", min_rating=3.5)
    assert "damaged or cut short" in message
    assert "replace it by a good copy" in message


def test_zip_with_a_damaged_middle(tmp_path):
    path = write_zip(tmp_path / "ml.zip", {"ml/ratings.csv": ratings_csv(LONG)})
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 50] = bytes(50)
    path.write_bytes(data)
    assert "damaged" in message_of(path, "movielens", min_rating=3.5)


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.999])
def test_truncated_gz(keep, tmp_path):
    path = tmp_path / "mine.csv.gz"
    path.write_bytes(gzip.compress(ratings_csv(LONG).encode()))
    message = message_of(cut_short(path, keep), "csv", user="userId", item="movieId")
    assert "damaged or cut short" in message


@pytest.fixture(params=["tar", "tar.gz"])
def netflix_tar(request, tmp_path):
    """A small Netflix archive, as a tar and as a gzipped tar."""
    rows = [(str(u), str(f), "4") for f in range(1, 31) for u in range(f, f + 40)]
    path = write_netflix_tar(tmp_path / "nf.tar.gz", films(rows))
    if request.param == "tar":
        path.write_bytes(gzip.decompress(path.read_bytes()))
    return path


def test_cut_netflix_archive(netflix_tar):
    """Every cut is reported, though tarfile takes one between two members for the end."""
    whole = netflix_tar.read_bytes()
    content = len(whole.rstrip(b"\0"))
    ends = np.linspace(512, content - 1, 60).astype(int)
    for end in {*ends, *(ends // 512 * 512)}:
        netflix_tar.write_bytes(whole[:end])
        assert "damaged or cut short" in message_of(netflix_tar, "netflix", min_rating=3.5), end


def test_netflix_archive_with_a_damaged_header(netflix_tar):
    """The damaged header is in the inner tar; the outer tar and its gzip are valid."""
    data = netflix_tar.read_bytes()
    packed = data.startswith(b"\x1f\x8b")
    data = bytearray(gzip.decompress(data) if packed else data)
    at = data.index(b"training_set/mv_0000012.txt")
    data[at : at + 8] = b"\xff" * 8
    netflix_tar.write_bytes(gzip.compress(data) if packed else data)
    assert "damaged or cut short" in message_of(netflix_tar, "netflix", min_rating=3.5)


def test_netflix_archive_with_a_wrong_checksum(tmp_path):
    path = write_netflix_tar(tmp_path / "nf.tar.gz", films())
    data = bytearray(path.read_bytes())
    data[-8:-4] = b"\0\0\0\0"
    path.write_bytes(data)
    assert "damaged or cut short" in message_of(path, "netflix", min_rating=3.5)


@pytest.mark.parametrize("name", ["b.csv.gz", "b.CSV.BZ2", "more/b.csv.zip"])
def test_a_packed_file_inside_a_zip_is_not_passed_over(name, tmp_path):
    path, text = tmp_path / "mine.zip", "user,item\na,1\nb,1\n"
    write_zip(path, {"a.csv": text, name: b"packed"})
    with pytest.raises(UserError, match=rf"{name} is packed inside the archive; unpack both"):
        read_interactions(path, "csv")


def test_gzip_in_several_members_is_read_to_its_end(tmp_path):
    rows = [(str(u), str(f), "4") for f in range(1, 31) for u in range(f, f + 40)]
    path = write_netflix_tar(tmp_path / "nf.tar.gz", films(rows))
    data = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(data[:5120]) + gzip.compress(data[5120:]))
    assert read_interactions(path, "netflix").raw.items == 30


def zip_with(path, flag=None, method=None):
    """Write a zip whose headers say that it is encrypted or packed by another method."""
    write_zip(path, {"ratings.csv": ratings_csv()})
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(magic) + offset
        if flag is not None:
            data[at] |= flag
        if method is not None:
            data[at + 2] = method
    path.write_bytes(data)
    return path


def test_encrypted_zip(tmp_path):
    assert "encrypted; unpack it" in message_of(zip_with(tmp_path / "m.zip", flag=1), "movielens")


def test_zip_packed_as_windows_packs_large_files(tmp_path):
    path = zip_with(tmp_path / "m.zip", method=9)
    assert "Python cannot read" in message_of(path, "movielens")


@pytest.mark.parametrize("format", ["csv", "movielens", "msd"])
@pytest.mark.parametrize("kind", ["bz2", "xz", "tar", "tgz"])
def test_archives_that_are_not_read(kind, format, tmp_path):
    path = tmp_path / f"mine.{kind}"
    text = tar_of({"mine.csv": ratings_csv().encode()})
    pack = {"bz2": bz2.compress, "xz": lzma.compress, "tar": bytes, "tgz": gzip.compress}[kind]
    path.write_bytes(pack(text))
    assert "are not read; unpack it" in message_of(path, format)


def test_archive_of_something_else(tmp_path):
    path = write_zip(tmp_path / "photos.zip", {"a.jpg": "x"})
    assert "holds no file named ratings.csv, ratings.dat or u.data" in message_of(path, "movielens")
    assert "holds no film file" in message_of(
        write_netflix_tar(tmp_path / "nf.tar.gz", {}), "netflix"
    )


@pytest.mark.parametrize("depth", [3, 300])
def test_tars_inside_each_other(depth, tmp_path):
    data = tar_of({"training_set/mv_0000001.txt": b"1:\n12,4,2005-09-06\n"})
    for _ in range(depth):
        data = tar_of({"training_set.tar": data})
    (tmp_path / "nf.tar").write_bytes(data)
    message = message_of(tmp_path / "nf.tar", "netflix")
    assert "more than 3 archives inside each other" in message
    assert len(message) < 1000


@pytest.mark.parametrize("kind", ["sparse", "hard link", "link"])
def test_a_film_file_in_a_tar_that_is_no_plain_file(kind, tmp_path):
    """Without a check, such a file would be skipped, or read as zeros."""
    buffer = io.BytesIO()
    text = b"1:\n12,4,2005-09-06\n"
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("training_set/mv_0000001.txt")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
        other = tarfile.TarInfo("training_set/mv_0000002.txt")
        types = {"sparse": tarfile.GNUTYPE_SPARSE, "hard link": tarfile.LNKTYPE}
        other.type = types.get(kind, tarfile.SYMTYPE)
        other.linkname = "" if kind == "sparse" else info.name
        archive.addfile(other)
    (tmp_path / "nf.tar").write_bytes(buffer.getvalue())
    message = message_of(tmp_path / "nf.tar", "netflix")
    assert "mv_0000002.txt is a" in message
    assert "unpack the archive" in message


def zipped(text, comment=b""):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.csv", text)
        archive.comment = comment
    return buffer.getvalue()


def test_two_files_joined_of_which_one_is_a_zip(tmp_path):
    """Python's zipfile reads the last archive in a file and ignores all other bytes."""
    text = "user,item\n1,2\n3,4\n"
    one, path = zipped(text), tmp_path / "x.zip"
    for content in (one + one, text.encode() + one, one + text.encode(), one + bytes(9) + one):
        path.write_bytes(content)
        with pytest.raises(UserError, match="bytes before or behind the zip archive"):
            read_interactions(path, "csv")
    for content in (one, one + bytes(99), zipped(text, b"a comment\0")):
        path.write_bytes(content)
        assert len(read_interactions(path, "csv")) == 2
