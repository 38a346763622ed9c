"""Downloads over a network that fails: a real HTTP server on this machine misbehaves on demand."""

import gzip
import hashlib
import http.server
import time
from dataclasses import asdict

import pytest

from lindrop.base.errors import UserError
from lindrop.data import web
from lindrop.data.fetch import BLOCK_BYTES, Expected, fetch, receipt
from support.files import serving

DATA = bytes(range(256)) * 8000  # 2 MB
SHA256 = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA).hexdigest()
WHOLE = Expected(len(DATA), SHA256, MD5)


class Server(http.server.ThreadingHTTPServer):
    """Serves DATA; `faults` are taken one per request, then it behaves."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.requests, self.etag, self.data = [], [], '"v1"', DATA
        self.content_type, self.ranges = "application/zip", True
        self.encoding = None

    def url(self, name="file.zip"):
        return f"http://127.0.0.1:{self.server_port}/{name}"

    def starts(self):
        """The byte at which each request asked to start."""
        ranges = [wanted or "bytes=0-" for _, wanted in self.requests]
        return [int(wanted.removeprefix("bytes=").removesuffix("-")) for wanted in ranges]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        wanted = self.headers.get("Range")
        server.requests.append((self.path, wanted))
        fault = server.faults.pop(0) if server.faults else None
        if isinstance(fault, int):
            self.send_error(fault)
            return
        if fault == "refuse":
            self.close_connection = True
            return
        data, status = server.data, 200
        fresh = self.headers.get("If-Range") in (None, server.etag)
        if wanted and server.ranges and fresh and fault != "no ranges":
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(data)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            status, data = 206, data[start:]
        self.send_response(status)
        self.send_header("Content-Type", server.content_type)
        self.send_header("Content-Length", str(len(data)))
        if server.etag:
            self.send_header("ETag", server.etag)
        if server.encoding:
            self.send_header("Content-Encoding", server.encoding)
        if status == 206:
            total = len(server.data)
            self.send_header("Content-Range", f"bytes {total - len(data)}-{total - 1}/{total}")
        self.end_headers()
        if isinstance(fault, float):  # hang up after this share
            data = data[: int(len(data) * fault)]
            self.close_connection = True
        self.wfile.write(data)


@pytest.fixture
def server(monkeypatch):
    """Answers when this machine has time to: who asks does not give it up and ask again."""
    monkeypatch.setattr("lindrop.data.fetch.TIMEOUT", None)
    with serving(Server()) as server:
        yield server


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "file.zip"


def get(server, target, expected=WHOLE, **options):
    waits = []
    fetch([server.url()], target, expected, sleep=waits.append, **options)
    assert target.read_bytes() == DATA
    assert [file.name for file in target.parent.iterdir()] == [target.name]  # no leftovers
    return waits


def fails(server, target, expected=WHOLE, urls=None):
    with pytest.raises(UserError) as caught:
        fetch(urls or [server.url()], target, expected, sleep=lambda seconds: None)
    message = str(caught.value)
    assert "\n" not in message
    assert "set `path` or `data_dir`" in message
    assert not target.exists()
    return message


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


def test_web_page_by_its_type(server, target):
    server.content_type = "text/html; charset=utf-8"
    assert "web page instead of the file" in fails(server, target)


def test_web_page_by_its_content(server, target):
    server.data = b"\n<!doctype HTML><html><body>Sorry</body></html>"
    assert "web page instead of the file" in fails(server, target, Expected())


def test_wrong_size_is_refused_before_it_is_downloaded(server, target):
    message = fails(server, target, Expected(bytes=12_345))
    assert "offers 2,048,000 bytes instead of 12,345" in message


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


def answer_with(server, monkeypatch, *answers):
    """Let the server give these answers first: (status, header lines, body)."""
    answers, usual = list(answers), Handler.do_GET

    def do_get(handler):
        if not answers:
            return usual(handler)
        server.requests.append((handler.path, handler.headers.get("Range")))
        status, lines, body = answers.pop(0)
        handler.close_connection = True
        head = "\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""])
        return handler.wfile.write(head.encode() + body)

    monkeypatch.setattr(Handler, "do_GET", do_get)


LENGTH = len(DATA)
ALL = [f"Content-Length: {LENGTH}", 'ETag: "v1"']
FIRST = (200, ALL, DATA[:100_000])  # cut there: what follows answers a request for the rest
AFTER = DATA[100_000:]


@pytest.mark.parametrize(
    "answers",
    [
        [FIRST, (206, ['ETag: "v1"', f"Content-Range: bytes 100000-100099/{LENGTH}"], AFTER[:100])],
        [FIRST, (206, ['ETag: "v1"', "Content-Range: bytes 100000-100099/100100"], AFTER[:100])],
        [
            FIRST,
            (206, ['ETag: "v2"', f"Content-Range: bytes 100000-2047999/{LENGTH}"], AFTER[::-1]),
        ],
        [FIRST, (206, [f"Content-Range: bytes 100000-2047999/{LENGTH}"], AFTER[::-1])],
        [FIRST, (206, ['ETag: "v1"', f"Content-Range: bytes 0-2047999/{LENGTH}"], DATA)],
        [FIRST, (416, ["Content-Range: bytes */100000", "Content-Length: 0"], b"")],
        [(206, [*ALL, f"Content-Range: bytes 7-2047999/{LENGTH}"], DATA[7:])],
        [(200, ["Content-Length: abc"], DATA[:1000])],
        [(200, [f"Content-Length: {'9' * 5000}"], DATA[:1000])],
    ],
)
def test_answers_that_contradict_each_other_are_asked_again(answers, server, target, monkeypatch):
    """Nothing but the answers tells the file: no size and no checksum is stated."""
    answer_with(server, monkeypatch, *answers)
    get(server, target, Expected())


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((200, ["Content-Length: 0"], b""), "an empty file"),
        ((200, ["Content-Type: Text/HTML", "Content-Length: 5"], b"Sorry"), "a web page instead"),
        ((200, [], DATA[:1000]), "does not say where the file ends"),
        ((200, ["Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n"), "is not understood"),
        ((302, ["Location: ftp://x.org/y", "Content-Length: 0"], b""), "not a usable address"),
        ((302, ["Location: http://[", "Content-Length: 0"], b""), "an address that is none"),
        ((410, ["Content-Length: 0"], b""), "answered 410 X"),
    ],
)
def test_answers_that_are_not_the_file(answer, problem, server, target, monkeypatch):
    answer_with(server, monkeypatch, answer)
    assert problem in fails(server, target, Expected())
    assert len(server.requests) == 1


def test_a_redirect_loop_is_not_asked_again(server, target, monkeypatch):
    loop = (302, ["Location: /file.zip", "Content-Length: 0"], b"")
    answer_with(server, monkeypatch, *[loop] * 50)
    assert "redirects more than 10 times" in fails(server, target)
    assert len(server.requests) == 11


def test_a_redirect_from_https_to_http_needs_a_checksum(monkeypatch):
    answers = []

    class Moved:
        status_code, headers, reason, raw = 302, {"Location": "http://x.org/y"}, "Moved", None
        close = answers.clear

    monkeypatch.setattr(web._Session, "get", lambda *args, **options: Moved())
    for proven, problem in ((False, "from https to http"), (True, "more than 10 times")):
        with (
            pytest.raises(web.MirrorError, match=problem),
            web.asked("https://x.org/y", 0, None, timeout=60, proven=proven),
        ):
            pass


def test_what_a_server_says_is_shown_as_plain_text(server, target, monkeypatch):
    answer_with(server, monkeypatch, ("404 \x1b[2J\x07" + "long " * 500, [], b""))
    message = fails(server, target)
    assert message.isprintable()
    assert len(message) < 700


def test_a_drip_is_given_up(server, target, monkeypatch):
    """Its bytes come more often than the timeout of the connection asks for."""
    monkeypatch.setattr(web, "BLOCK_SECONDS", 0.2)

    def drip(handler):
        server.requests.append((handler.path, None))
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            handler.wfile.write(b"x")
            time.sleep(0.02)

    monkeypatch.setattr(Handler, "do_GET", drip)
    assert "slower than" in fails(server, target, Expected())
    assert len(server.requests) == 6
