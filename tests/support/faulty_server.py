"""A web server for tests, which answers each request with the next fault of a script."""

import contextlib
import socket
import threading
from collections import Counter
from datetime import timedelta
from email.utils import format_datetime

from support.faults import FAULTS, NOW, reply


class Server:
    """A server for one case: `script` lists the faults of the next answers; then it has none."""

    def __init__(self, rng):
        self.rng, self.script = rng, []
        self.names = rng.choice(["ETag", "ETag", "weak ETag", "date", "young date", "both", ""])
        self.changes = rng.choice([0.0, 0.0, 0.15, 0.5])  # probability of a new file
        size = rng.choice([1, 37, 1000, 70_000, 200_000, 400_000])
        self.files = [rng.randbytes(size) for _ in range(2)]
        if rng.random() < 0.5:
            self.files[1] = self.files[0] + self.files[1][: rng.randint(1, size)]
        self.version, self.faults, self.stopped = 0, Counter(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.stopped.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def url(self, mirror=0):
        return f"http://127.0.0.1:{self.port}/{mirror}/file.zip"

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            connection.settimeout(20)
            head = b""
            while b"\r\n\r\n" not in head:
                received = connection.recv(65536)
                if not received:
                    return
                head += received
            with self.lock:
                pieces = self.answer(head.decode("latin-1"))
            for piece in pieces:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                elif piece == "reset":
                    linger = b"\1\0\0\0\0\0\0\0"
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                elif self.stopped.wait(piece):
                    return

    def validators(self):
        tag, hours = f"v{self.version}", self.version
        weak = "W/" if self.names == "weak ETag" else ""
        tags = [f'ETag: {weak}"{"same" if weak else tag}"'] if "ETag" in self.names else []
        age = timedelta(hours=10 - hours) if self.names != "young date" else timedelta()
        date = [f"Last-Modified: {format_datetime(NOW - age, usegmt=True)}"]
        date = date if self.names in ("date", "young date", "both") else []
        tags = tags or ([f'ETag: "{tag}"'] if self.names == "both" else [])
        return [*tags, *date, f"Date: {format_datetime(NOW, usegmt=True)}"]

    def answer(self, request):
        """The pieces of an answer: bytes to send, seconds to wait, or "reset" to break off."""
        rng = self.rng
        path = request.split(" ")[1]
        fields = dict(line.split(": ", 1) for line in request.split("\r\n")[1:] if ": " in line)
        fault = self.script.pop(0) if self.script else "honest"
        self.faults[fault] += 1
        if (fault != "honest" and rng.random() < self.changes) or fault == "If-Range ignored":
            self.version = 1 - self.version
        data, named = self.files[self.version], self.validators()
        start = int(fields["Range"].removeprefix("bytes=").rstrip("-")) if "Range" in fields else 0
        same = "If-Range" not in fields or any(
            line.endswith(f": {fields['If-Range']}") for line in named
        )
        if fault == "same ETag, other bytes":
            data = self.files[1 - self.version]
        if fault == "wrong bytes":
            data = bytes([data[0] ^ 1]) + data[1:]
        ranged = start and (same or fault == "If-Range ignored") and fault != "no ranges"
        if "/hop/" in path:
            return self.hop(path)
        if ranged and start >= len(data):
            return [reply(416, [*named, f"Content-Range: bytes */{len(data)}"])]
        status, body, first = (206, data[start:], start) if ranged else (200, data, 0)
        where = f"bytes {first}-{len(data) - 1}/{len(data)}"
        if fault in FAULTS:
            return FAULTS[fault](self, status, body, first, len(data), named)
        if fault in ("honest", "no ranges", "wrong bytes", "same ETag, other bytes") or (
            fault == "If-Range ignored"
        ):
            lines = [*named, f"Content-Length: {len(body)}", "Content-Type: application/zip"]
            lines += [f"Content-Range: {where}"] if status == 206 else []
            return [reply(status, lines), body]
        raise AssertionError(fault)

    def hop(self, path):
        left = int(path.split("/")[2])
        target = f"/hop/{left - 1}/file.zip" if left > 1 else "/0/file.zip"
        if left == 1:
            self.script.insert(0, "honest")
        return [reply(302, [f"Location: {target}", "Content-Length: 0"])]
