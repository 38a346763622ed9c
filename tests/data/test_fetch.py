"""Downloads over a network that fails: they are resumed, asked again, or taken from a mirror."""

import gzip
import hashlib
from dataclasses import asdict

import pytest

from lindrop.base.errors import UserError
from lindrop.data.fetch import BLOCK_BYTES, Expected, fetch, receipt
from support.file_server import DATA, MD5, SHA256, WHOLE, Server, fails, get


def test_whole_file(server, target):
    assert get(server, target) == []


def test_an_archive_is_not_unpacked_on_the_way(server, target):
    """Some servers label .tar.gz with Content-Encoding: x-gzip."""
    server.data, server.encoding = gzip.compress(DATA), "x-gzip"
    fetch([server.url()], target, Expected(bytes=len(server.data)))
    assert target.read_bytes() == server.data


def test_a_dropped_connection_is_resumed_where_it_stopped(server, target):
    server.faults = [0.5, 0.5]
    assert get(server, target) == [1, 1]  # bytes arrived: the waiting starts anew
    first, second, third = server.starts()
    assert first == 0
    assert len(DATA) / 2 - BLOCK_BYTES < second <= len(DATA) / 2
    assert len(DATA) * 3 / 4 - 2 * BLOCK_BYTES < third <= len(DATA) * 3 / 4


def test_a_killed_download_is_resumed_by_the_next_run(server, target):
    server.faults = [0.25, *["refuse"] * 5]
    assert "gave up after 6 attempts" in fails(server, target)
    server.requests.clear()
    get(server, target)
    (start,) = server.starts()
    assert len(DATA) / 4 - BLOCK_BYTES < start <= len(DATA) / 4


def test_killed_between_the_last_byte_and_the_rename(server, target):
    server.faults = [0.25, *["refuse"] * 5]
    fails(server, target)
    (part,) = target.parent.glob("*.part")
    part.write_bytes(DATA)
    get(server, target)


def test_a_partial_file_longer_than_the_file(server, target):
    server.faults = [0.25, *["refuse"] * 5]
    fails(server, target)
    (part,) = target.parent.glob("*.part")
    part.write_bytes(DATA + b"more")
    get(server, target)


def test_many_drops_are_no_reason_to_give_up_while_bytes_arrive(server, target):
    server.faults = [0.3] * 9
    get(server, target)
    starts = server.starts()
    assert starts == sorted(starts)


def test_a_server_that_starts_over_and_over_is_given_up(server, target):
    server.ranges, server.faults = False, [0.5, *[0.3, 0.4] * 50]
    assert "gave up after 6 attempts" in fails(server, target)
    assert len(server.requests) == 6


def test_a_mirror_does_not_throw_away_what_another_gave(server, target):
    server.faults = [0.5, *["refuse"] * 5, 404]
    urls = [server.url("a/file.zip"), server.url("b/file.zip")]
    fails(server, target, urls=urls)
    server.requests.clear()
    fetch(urls, target, WHOLE, sleep=lambda seconds: None)
    assert target.read_bytes() == DATA
    assert server.starts()[0] > 0
    assert [file.name for file in target.parent.iterdir()] == [target.name]


def test_a_file_that_changed_meanwhile_is_not_spliced(server, target):
    server.faults, server.data = [0.5, *["refuse"] * 5], DATA[::-1]
    fails(server, target)
    server.etag, server.data = '"v2"', DATA
    get(server, target)


def test_a_server_without_ranges(server, target):
    server.faults = [0.5, "no ranges"]
    get(server, target)


def test_without_version_or_checksum_nothing_is_resumed(server, target):
    server.etag, server.faults = None, [0.5]
    get(server, target, Expected(bytes=len(DATA)))
    assert server.starts() == [0, 0]


def test_without_a_version_a_checksum_allows_to_resume(server, target):
    server.etag, server.faults = None, [0.5]
    get(server, target)
    assert server.starts()[1] > 0


def test_a_damaged_partial_file_is_replaced(server, target):
    server.faults = [0.25, *["refuse"] * 5]
    fails(server, target)
    (part,) = target.parent.glob("*.part")
    part.write_bytes(bytes(len(part.read_bytes())))
    get(server, target)


@pytest.mark.parametrize("fault", [500, 503, 429, "refuse"])
def test_passing_faults_are_waited_out_longer_each_time(fault, server, target):
    server.faults = [fault] * 4
    assert get(server, target) == [1, 2, 4, 8]


def test_not_found_is_not_asked_again(server, target):
    server.faults = [404]
    assert "404 Not Found" in fails(server, target)
    assert len(server.requests) == 1


def test_mirrors_are_tried_in_order(server, target):
    server.faults = [404, *[500] * 6]
    urls = [server.url(f"{name}/file.zip") for name in "abc"]
    fetch(urls, target, WHOLE, sleep=lambda seconds: None)
    assert target.read_bytes() == DATA
    asked = [path for path, _ in server.requests]
    assert asked == ["/a/file.zip", *["/b/file.zip"] * 6, "/c/file.zip"]


def test_every_failed_mirror_is_named(server, target):
    server.faults = [404, 403]
    urls = [server.url("a/file.zip"), server.url("b/file.zip")]
    message = fails(server, target, urls=urls)
    assert "a/file.zip: the server answered 404" in message
    assert "b/file.zip: the server answered 403" in message


def test_nobody_listens(target):
    closed = Server()
    closed.server_close()
    assert "connection" in fails(closed, target).lower()


@pytest.mark.parametrize("name", ["sha256", "md5"])
def test_wrong_checksum(name, server, target):
    wrong = "0" * len(checksum_of(name))
    message = fails(server, target, Expected(**{name: wrong}))
    assert f"{name} {checksum_of(name)} instead of {wrong}" in message
    assert list(target.parent.iterdir()) == []  # nothing that a rerun would trust


def checksum_of(name):
    return hashlib.new(name, DATA).hexdigest()


def test_checksums_may_be_written_in_capitals(server, target):
    get(server, target, Expected(sha256=SHA256.upper(), md5=MD5.upper()))


def test_a_proven_file_is_not_downloaded_again(server, target):
    get(server, target)
    get(server, target)
    assert len(server.requests) == 1


def test_an_unproven_file_is(server, target):
    get(server, target, Expected())
    target.write_bytes(b"something else")
    get(server, target, Expected())
    assert len(server.requests) == 2


def test_an_address_without_http(target):
    with pytest.raises(UserError, match="needs http:// or https://"):
        fetch(["files.grouplens.org/x.zip"], target, WHOLE, sleep=lambda seconds: None)


def test_receipt_of_a_download_says_what_was_compared(server, target):
    server.faults = [0.5]
    delivery = fetch([server.url()], target, Expected(bytes=len(DATA)), sleep=lambda seconds: None)
    found = receipt(target, Expected(bytes=len(DATA)), asdict(delivery))
    assert found["verified_by"] is None
    assert found["checked"] == ["size stated", "length sent by the server"]
    assert delivery.address == server.url()
    target.write_bytes(DATA[::-1])
    with pytest.raises(UserError, match="not what was downloaded; delete it and rerun"):
        receipt(target, Expected(), asdict(delivery))
