"""How a file was verified: receipts, notes of downloads, and the labels made from them."""

import hashlib

import pytest

from lindrop.base.errors import UserError
from lindrop.data.fetch import Expected, receipt
from lindrop.data.interactions import RawCounts
from lindrop.data.provenance import check_label, comparable, verified_by_counts
from lindrop.store.receipt import read_note, write_note

DATA = bytes(range(256))
SHA256 = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA).hexdigest()
WHOLE = Expected(len(DATA), SHA256, MD5)


def test_receipt_says_what_proved_a_file(tmp_path):
    path = tmp_path / "file.zip"
    path.write_bytes(DATA)
    assert receipt(path, WHOLE) == {
        "file": "file.zip",
        "bytes": len(DATA),
        "sha256": SHA256,
        "verified_by": "sha256",
        "checked": ["size stated", "sha256 stated", "md5 stated"],
    }
    assert receipt(path, Expected(md5=MD5))["verified_by"] == "md5"
    assert receipt(path, Expected(bytes=len(DATA)))["verified_by"] is None
    assert receipt(path, Expected())["verified_by"] is None
    with pytest.raises(UserError, match="labelled unverified"):
        receipt(path, Expected(bytes=1))


def test_the_note_of_a_download(tmp_path):
    path = tmp_path / "file.zip.url"
    delivery = {"address": "https://b.org/file.zip", "sha256": SHA256, "checked": ["x"]}
    write_note(path, "https://a.org/file.zip", delivery)
    assert path.read_text().startswith("https://a.org/file.zip\n")
    assert read_note(path) == delivery
    write_note(path, "https://a.org/file.zip", None)
    assert read_note(path) is None


def test_labels_name_what_was_compared():
    source = {"format": "csv", "verified_by": None, "checked": ["size stated"]}
    counted = verified_by_counts(source, RawCounts(3, 2, 1), {"rows": 3, "users": None}, "file")
    assert check_label(counted) == "unverified (checked: size stated, rows stated)"
    assert not comparable((None, None, counted), {"protocol": None})
    counted = verified_by_counts(source, RawCounts(3, 2, 1), {"rows": 3, "users": 2}, "file")
    assert check_label(counted) == "verified by counts"
    assert check_label(source | {"checked": []}) == "unverified"


def test_receipt_of_a_folder_depends_on_names_and_contents(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    first = receipt(tmp_path, WHOLE)
    assert first["verified_by"] is None  # the published checksum is of the archive
    (tmp_path / "b").write_bytes(b"2")
    assert receipt(tmp_path, WHOLE)["sha256"] != first["sha256"]


def test_what_was_compared_of_one_file_is_not_said_of_all():
    stated = {"rows": None, "users": None, "items": None}
    test = {"verified_by": "md5", "checked": ["md5 stated"]}
    for main, label in (
        ({"verified_by": None, "checked": []}, "unverified (checked: test file: md5 stated)"),
        ({"verified_by": "sha256", "checked": ["sha256 stated"]}, "verified by sha256"),
    ):
        source = {"format": "csv", **main, "test": test}
        assert check_label(verified_by_counts(source, RawCounts(3, 2, 1), stated, "f")) == label
    source |= {"test": {"verified_by": None, "checked": []}}
    found = check_label(verified_by_counts(source, RawCounts(3, 2, 1), stated, "f"))
    assert found == "unverified (checked: training file: sha256 stated)"
