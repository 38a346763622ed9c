"""A web server that serves one file and fails on demand, and downloads from it."""

import hashlib
import http.server

import pytest

from lindrop.base.errors import UserError
from lindrop.data.fetch import Expected, fetch

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


def get(server, target, expected=WHOLE, **options):
    """Download the file, which must come whole; returns the seconds that were waited."""
    waits = []
    fetch([server.url()], target, expected, sleep=waits.append, **options)
    assert target.read_bytes() == DATA
    assert [file.name for file in target.parent.iterdir()] == [target.name]  # no leftovers
    return waits


def fails(server, target, expected=WHOLE, urls=None):
    """The message with which a download fails, in one line; it must leave no file."""
    with pytest.raises(UserError) as caught:
        fetch(urls or [server.url()], target, expected, sleep=lambda seconds: None)
    message = str(caught.value)
    assert "\n" not in message
    assert "set `path` or `data_dir`" in message
    assert not target.exists()
    return message
