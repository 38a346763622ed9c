"""Faulty answers of a web server, by the name of the fault."""

import itertools
from datetime import UTC, datetime
from email.utils import format_datetime

PAGE = b"<!DOCTYPE html>\n<html><body>Sorry, we moved.</body></html>"
NOW = datetime(2026, 1, 1, tzinfo=UTC)

# faults by kind; only a checksum reveals those of LIES, a checksum or the size those of SHORT_LIES
HONEST = ["honest"]
CUTS = ["cut", "cut at once", "reset", "long body", "kept open", "no answer"]
RANGES = [
    "no ranges",
    "unasked 206",
    "short range",
    "wrong start",
    "wrong total",
    "total unknown",
    "no Content-Range",
    "garbled Content-Range",
    "multipart",
    "other ETag",
    "no validator",
    "If-Range ignored",
    "416",
    "416 of the cut length",
    "416 without a length",
    "range too long",
]
LENGTHS = ["bad length", "two lengths", "too long", "no length", "no length, cut"]
CHUNKS = ["chunked", "chunked, cut", "bad chunk size", "chunked twice", "gzip, chunked"]
STATUSES = ["error status", "odd status", "bad status line", "early hints"]
PAGES = ["page", "PAGE", "page without a type", "page after a mark", "empty"]
REDIRECTS = ["redirect", "redirect chain", "redirect loop", "redirect astray", "redirect drips"]
SLOW = ["drip", "drip head", "drip chunks", "silence"]
HEADERS = ["many headers", "long header", "folded ETag", "odd ETag", "odd date", "encoded"]
SHORT_LIES = ["short but consistent", "short chunks", "empty and consistent"]
LIES = ["wrong bytes", "same ETag, other bytes", "whole body as a part", "flipped head"]
GROUPS = [CUTS, RANGES, LENGTHS, CHUNKS, STATUSES, PAGES, REDIRECTS, HEADERS]


def reply(status, lines, reason="Some Reason"):
    text = "\r\n".join([f"HTTP/1.1 {status} {reason}", *lines, "Connection: close"])
    return f"{text}\r\n\r\n".encode("latin-1")


FAULTS = {}


def fault(*names):
    """Register a function that returns the pieces of an answer with one of these faults."""

    def register(function):
        for name in names:
            FAULTS[name] = lambda *args, name=name: function(name, *args)
        return function

    return register


def usual(status, body, first, total, named):
    lines = [*named, f"Content-Length: {len(body)}", "Content-Type: application/zip"]
    if status == 206:
        lines.append(f"Content-Range: bytes {first}-{first + len(body) - 1}/{total}")
    return lines


@fault(*CUTS)
def cut(name, server, status, body, first, total, named):
    rng, head = server.rng, reply(status, usual(status, body, first, total, named))
    part = body[: rng.randrange(len(body) + 1)]
    if name == "no answer":
        return []
    if name == "long body":
        return [head, body, rng.randbytes(5000)]
    if name == "kept open":
        return [head, body, 3]
    if name == "cut at once":
        return [head[: rng.randrange(len(head))]]
    return [head, part, *(["reset"] if name == "reset" else [])]


@fault(*(name for name in RANGES if name not in ("no ranges", "If-Range ignored")))
def ranges(name, server, status, body, first, total, named):
    rng = server.rng
    if name == "416":
        return [reply(416, [*named, f"Content-Range: bytes */{rng.choice([0, 1, total])}"])]
    if name == "416 of the cut length":
        return [reply(416, [*named, f"Content-Range: bytes */{first}"])]
    if name == "416 without a length":
        return [reply(416, named)]
    if status == 200 and name != "unasked 206":
        part = body[: rng.randrange(len(body) + 1)]  # the client then asks for the rest
        return [reply(status, usual(status, body, first, total, named)), part]
    last = first + len(body) - 1
    where = f"Content-Range: bytes {first}-{last}/{total}"
    length = f"Content-Length: {len(body)}"
    if name == "unasked 206":
        if status == 206:
            return [reply(200, usual(200, body, 0, total, named)), body[: len(body) // 2]]
        begin = rng.randrange(total)
        return [
            reply(206, [*named, f"Content-Range: bytes {begin}-{total - 1}/{total}"]),
            body[begin:],
        ]
    if name == "short range":
        body = body[: rng.randint(1, len(body))]
        where = f"Content-Range: bytes {first}-{first + len(body) - 1}/{total}"
        length = f"Content-Length: {len(body)}"
    if name == "wrong start":
        begin = min(rng.choice([0, max(first - 1, 0), *[first + 1] * 4, first + 9]), last)
        body = server.files[server.version][begin:]
        where = f"Content-Range: bytes {begin}-{last}/{total}"
        length = f"Content-Length: {len(body)}"
    if name == "wrong total":
        cut = rng.randrange(len(body))  # the header gives this as the end of the file
        where = f"Content-Range: bytes {first}-{first + cut - 1}/{first + cut}"
        body, length = body[:cut], f"Content-Length: {cut}"
    if name == "total unknown":
        where = f"Content-Range: bytes {first}-{last}/*"
    if name == "range too long":
        where = f"Content-Range: bytes {first}-{last + 7}/{total}"
    if name == "no Content-Range":
        where = "X-Nothing: here"
    if name == "garbled Content-Range":
        garbled = [
            "",
            "bytes",
            "bytes -5/7",
            "octets 0-1/2",
            "bytes 1_0-2/3",
            "b" * 3000,
            "bytes ٣-٤/٥",
        ]
        where = f"Content-Range: {rng.choice(garbled)}".encode().decode("latin-1")
    if name == "multipart":
        part = b"--x\r\n" + where.encode() + b"\r\n\r\n" + body + b"\r\n--x--\r\n"
        kind = "Content-Type: multipart/byteranges; boundary=x"
        return [reply(206, [*named, kind, f"Content-Length: {len(part)}"]), part]
    if name == "other ETag":
        named = ['ETag: "other"', f"Last-Modified: {format_datetime(NOW, usegmt=True)}"]
    if name == "no validator":
        named = []
    if name in ("other ETag", "no validator"):
        other = server.files[1 - server.version][first : last + 1]
        body = other if len(other) == len(body) else body
    return [reply(206, [*named, where, length]), body]


@fault(*LENGTHS)
def lengths(name, server, status, body, first, total, named):
    rng = server.rng
    lines = [x for x in usual(status, body, first, total, named) if "Content-Length" not in x]
    n = len(body)
    if name == "bad length":
        values = ["abc", "-5", "", f"+{n}x", f"{n},{n + 1}", "9" * 5000, f"{n}_0", "0x10", f"{n}.0"]
        lines.append(f"Content-Length: {rng.choice(values)}")
    if name == "two lengths":
        lines += [f"Content-Length: {n}", f"Content-Length: {n + rng.choice([-1, 1])}"]
    if name == "too long":
        lines.append(f"Content-Length: {n + rng.choice([1, 70_000, 10**12, 10**17])}")
    if name == "no length, cut":
        body = body[: rng.randrange(n + 1)]
    return [reply(status, lines), body]


def chunked(body, rng):
    at, pieces = 0, []
    while at < len(body):
        piece = body[at : at + rng.choice([1000, 65536, 10**6])]
        pieces.append(f"{len(piece):x}{rng.choice(['', ';a=b'])}\r\n".encode() + piece + b"\r\n")
        at += len(piece)
    return [*pieces, b"0\r\n", b"\r\n"]


@fault(*CHUNKS, "drip chunks", "short chunks")
def chunks(name, server, status, body, first, total, named):
    rng = server.rng
    lines = [x for x in usual(status, body, first, total, named) if "Content-Length" not in x]
    coding = {"chunked twice": "chunked, chunked", "gzip, chunked": "gzip, chunked"}
    head = reply(status, [*lines, f"Transfer-Encoding: {coding.get(name, 'chunked')}"])
    if name == "short chunks":
        body = body[: rng.randrange(len(body))]
    pieces = chunked(body, rng)
    if name == "chunked, cut":
        whole = b"".join(pieces)
        pieces = [whole[: rng.randrange(len(whole) - 4)]]
    if name == "bad chunk size":
        bad = [b"-5\r\n", b"zz\r\n", b"\r\n", b"f" * 70_000, b"7fffffffffffffff\r\n", b"1_0\r\n"]
        pieces.insert(rng.randrange(len(pieces) - 1), rng.choice(bad))
    if name == "drip chunks":
        return itertools.chain([head], rng.choice([dripping(b"1\r\nx\r\n"), dripping(b"0")]))
    return [head, *pieces]


def dripping(bits):
    """Parts of an answer that never ends: these bytes and a pause of 50 ms, again and again."""
    return itertools.cycle([bits, 0.05])


@fault(*STATUSES)
def statuses(name, server, status, body, first, total, named):
    rng, lines = server.rng, usual(status, body, first, total, named)
    if name == "error status":
        code = rng.choice([400, 401, 403, 404, 408, 410, 416, 425, 429, 500, 502, 503, 504])
        page = ["Content-Type: text/html", f"Content-Length: {len(PAGE)}"]
        return [reply(code, page, rng.choice(["Gone", "", "\tOdd \x01 reason", "é" * 200])), PAGE]
    if name == "odd status":
        return [reply(rng.choice([201, 203, 204, 205, 207, 300, 304, 305, 600, 999]), lines), body]
    if name == "early hints":
        early = rng.choice([b"100 Continue", b"102 Wait", b"103 Hints"])
        return [b"HTTP/1.1 " + early + b"\r\n\r\n", reply(status, lines), body]
    start = [b"ICY 200 OK", b"HTTP/1.1 abc OK", b"HTTP/1.1", b"", b"\0\xff", b"HTTP/1.1 99 X", b"2"]
    rest = reply(status, lines).partition(b"\r\n")[2]
    return [rng.choice(start) + b"\r\n" + rest, body]


@fault(*PAGES)
def pages(name, server, status, body, first, total, named):
    page = b"\xef\xbb\xbf" + PAGE if name == "page after a mark" else PAGE
    kind = {"page": "text/html", "PAGE": " Text/HTML; Charset=X"}.get(name, "application/zip")
    # "PAGE" is a page by its type only, "empty" has no bytes
    page = {"PAGE": b"<p>Sorry, we moved.</p>", "empty": b""}.get(name, page)
    return [reply(200, [*named, f"Content-Type: {kind}", f"Content-Length: {len(page)}"]), page]


ASTRAY = [
    "http://[",
    "http://",
    "//",
    "?",
    "",
    "ftp://x/y",
    "file:///etc/passwd",
    "http://127.0.0.1:1/x",
    "http://127.0.0.1:99999/",
    "http://a..b/",
    "http://\x80/",
    "http://%zz@:x/",
]


@fault(*REDIRECTS)
def redirects(name, server, status, body, first, total, named):
    rng = server.rng
    code = rng.choice([301, 302, 303, 307, 308])
    places = {
        "redirect": f"/hop/{rng.randint(1, 8)}/file.zip",
        "redirect chain": "/hop/40/file.zip",
        "redirect loop": "/0/file.zip",
        "redirect drips": f"/hop/{rng.randint(1, 3)}/file.zip",
        "redirect astray": rng.choice(ASTRAY),
    }
    if name == "redirect loop":
        server.script[:0] = ["redirect loop"] * rng.choice([3, 30])
    head = [f"Location: {places[name]}"]
    if name == "redirect drips":
        return itertools.chain([reply(code, [*head, "Content-Length: 100000"])], dripping(b"x"))
    return [reply(code, [*head, "Content-Length: 0"])]


@fault("drip", "drip head", "silence")
def slow(name, server, status, body, first, total, named):
    head = reply(status, usual(status, body, first, total, named))
    if name == "silence":
        return [head[: server.rng.choice([0, 20, len(head)])], 3]
    if name == "drip":
        return itertools.chain([reply(status, ["Content-Length: 1000000"])], dripping(b"x"))
    return itertools.chain([head[:17]], dripping(b"x"))


@fault(*HEADERS)
def headers(name, server, status, body, first, total, named):
    rng, lines = server.rng, usual(status, body, first, total, named)
    if name == "many headers":
        lines += [f"X-{k}: {k}" for k in range(rng.choice([50, 500]))]
    if name == "long header":
        lines.append("X-Long: " + "x" * rng.choice([60_000, 70_000, 300_000]))
    if name == "folded ETag":
        lines = ['ETag: "a\r\n b"', *lines]
    if name == "odd ETag":
        lines = [
            rng.choice(["ETag: \x80\xff", "ETag: ", "ETag: W/", "ETag: *", "no colon"]),
            *lines,
        ]
    if name == "odd date":
        dates = ["0", "Mon, 99 Foo 2020", "Thu, 01 Jan 99999 00:00:00 GMT", "\xff" * 30, "1" * 400]
        lines = [f"Last-Modified: {rng.choice(dates)}", *lines]
    if name == "encoded":
        lines.append(f"Content-Encoding: {rng.choice(['gzip', 'x-gzip', 'br', 'odd', 'deflate'])}")
    # half of the answers are cut, so that the client resumes with these headers
    return [reply(status, lines), body if rng.random() < 0.5 else body[: len(body) // 2]]


@fault("short but consistent", "empty and consistent", "whole body as a part", "flipped head")
def lies(name, server, status, body, first, total, named):
    rng = server.rng
    if name == "flipped head":
        head = bytearray(reply(status, usual(status, body, first, total, named)))
        for _ in range(rng.choice([1, 1, 1, 5, 50])):
            head[rng.randrange(len(head))] = rng.randrange(256)
        return [bytes(head), body]
    if name == "whole body as a part":
        body = server.files[server.version][: len(body)]
        return [reply(status, usual(status, body, first, total, named)), body]
    body = b"" if name == "empty and consistent" else body[: rng.randrange(len(body))]
    return [reply(200, usual(200, body, 0, len(body), named)), body]
