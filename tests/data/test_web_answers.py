"""Answers of a web server that are wrong, contradict each other or never end."""

import time

import pytest

from lindrop.data import web
from lindrop.data.fetch import Expected
from support.file_server import DATA, Handler, fails, get


def test_web_page_by_its_type(server, target):
    server.content_type = "text/html; charset=utf-8"
    assert "web page instead of the file" in fails(server, target)


def test_web_page_by_its_content(server, target):
    server.data = b"\n<!doctype HTML><html><body>Sorry</body></html>"
    assert "web page instead of the file" in fails(server, target, Expected())


def test_wrong_size_is_refused_before_it_is_downloaded(server, target):
    message = fails(server, target, Expected(bytes=12_345))
    assert "offers 2,048,000 bytes instead of 12,345" in message


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
