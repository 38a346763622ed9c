"""Ask a web server for a file or the rest of it, and believe only answers that are consistent.

The terms are those of RFC 9110: a validator (ETag or Last-Modified) names a version of a file, a
range request with If-Range asks for the rest of that version only.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urljoin

import requests
import urllib3

BLOCK_BYTES = 1 << 16  # read at once; a slower server is given up: BLOCK_BYTES in BLOCK_SECONDS
BLOCK_SECONDS = 60.0
HEAD_SECONDS = 120.0  # for the connection and the header lines of an answer
REDIRECTS = 10
LONGEST_MESSAGE = 300
WORTH_A_RETRY = {408, 425, 429}
MOVED = {301, 302, 303, 307, 308}
# identity: the bytes of the published file, not a compressed copy of them
HEADERS = {"User-Agent": "lindrop", "Accept-Encoding": "identity"}
WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
STRONG_ETAG = re.compile(r'"[!#-~\x80-\xff]*"')
WEB_PAGES = ("text/html", "application/xhtml")

T = TypeVar("T")


class ServerError(Exception):
    """An error whose message may quote a server: it is cut to one short line of plain text."""

    def __init__(self, message: str):
        line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
        super().__init__(line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}…")


class MirrorError(ServerError):
    """Raised when an address cannot deliver the file; the next address is tried."""


class PassingError(ServerError):
    """Raised for a temporary fault of the network or the server; the download is retried."""


class Validator(NamedTuple):
    """A version of a file as its server names it: `kind` is ETag or Last-Modified."""

    kind: str
    value: str


@dataclass(frozen=True)
class Answer:
    """A response that carries a file, or the bytes of it from `start` up to before `end`.

    `end` and the `total` length are None where the server sent no length.
    """

    response: requests.Response
    start: int
    end: int | None
    total: int | None
    validator: Validator | None

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks, each with its length before it."""
        return _is_chunked(self.response)

    @property
    def marked_end(self) -> bool:
        """Whether a cut transfer is noticed; a body that ends with the connection may be cut."""
        return self.end is not None or self.chunked

    def blocks(self) -> Iterator[bytes]:
        """The body in blocks; PassingError if it is cut or comes too slowly."""
        raw = self.response.raw
        while True:
            with connection_errors():
                # not decoded: some servers label archives with Content-Encoding, and a .tar.gz
                # must not be unpacked on the way
                block = within(
                    BLOCK_SECONDS,
                    lambda: raw.read(BLOCK_BYTES, decode_content=False),
                    lambda: _hang_up(self.response),
                    f"slower than {BLOCK_BYTES / BLOCK_SECONDS / 1000:.1f} kB/s",
                )
            if not block:
                return
            yield block


@contextmanager
def asked(
    url: str, start: int, validator: Validator | None, *, timeout: Any, proven: bool
) -> Iterator[Answer | None]:
    """Ask for the file from byte `start`; None means that the server cannot continue there.

    `proven` tells that a checksum will prove the file: only then may a part come without a
    validator, and only then may a redirect lead from https to http.
    """
    headers = dict(HEADERS)
    if start:
        headers["Range"] = f"bytes={start}-"
        if validator:
            headers["If-Range"] = validator.value
    response = _followed(url, headers, timeout, proven)
    try:
        status = response.status_code
        if status == 416 and start:
            yield None
        else:
            _check_status(response)
            yield _part(response, start, validator, proven) if status == 206 else _whole(response)
    finally:
        _hang_up(response)
        response.close()


def _followed(url: str, headers: dict[str, str], timeout: Any, proven: bool) -> requests.Response:
    """The response at the end of all redirects, of which only the header lines were read."""
    session = _Session()
    for _ in range(REDIRECTS + 1):
        ask = partial(session.get, url, headers=headers, stream=True, timeout=timeout)
        with connection_errors():
            response = within(
                HEAD_SECONDS,
                ask,
                lambda: None,
                f"no answer within {HEAD_SECONDS:.0f} s",
            )
        location = response.headers.get("Location")
        if response.status_code not in MOVED or not location:
            return response
        _hang_up(response)
        response.close()
        before = url
        try:
            url = urljoin(url, location)
        except ValueError as error:
            raise MirrorError("the server redirects to an address that is none") from error
        if _is_https(before) and not _is_https(url) and not proven:
            raise MirrorError("the server redirects from https to http, and no checksum is stated")
    raise MirrorError(f"the server redirects more than {REDIRECTS} times")


class _Session(requests.Session):
    """A session that leaves redirects alone, since requests would read their bodies to the end."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def _is_https(url: str) -> bool:
    return url.lower().startswith("https:")


def _check_status(response: requests.Response) -> None:
    """Raise MirrorError or PassingError unless the response carries a file."""
    answer = f"the server answered {response.status_code} {response.reason or ''}"
    if response.status_code >= 500 or response.status_code in WORTH_A_RETRY:
        raise PassingError(answer)
    if response.status_code not in (200, 206):
        raise MirrorError(answer)
    if response.headers.get("Transfer-Encoding", "chunked").lower() != "chunked":
        raise MirrorError("the server packs the file in a way that is not understood")
    if response.headers.get("Content-Type", "").strip().lower().startswith(WEB_PAGES):
        raise MirrorError("the server sent a web page instead of the file")


def _whole(response: requests.Response) -> Answer:
    """The answer of status 200: the whole file, whatever was asked for."""
    length = content_length(response)
    return Answer(response, 0, length, length, _validator(response))


def _part(
    response: requests.Response, start: int, validator: Validator | None, proven: bool
) -> Answer | None:
    """The answer of status 206, or None unless it continues this version of the file at `start`."""
    found = RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
    if not start or not found:
        return None
    first, last, total = map(int, found.groups())
    length = content_length(response)
    if first != start or not first <= last < total or length not in (None, last + 1 - first):
        return None
    sent = response.headers.get(validator.kind, "").strip() if validator else ""
    if (sent or not proven) and (validator is None or sent != validator.value):
        return None
    return Answer(response, start, last + 1, total, validator)


def content_length(response: requests.Response) -> int | None:
    """Length of the body that the server announced, or None; PassingError if it is no number."""
    text = response.headers.get("Content-Length")
    if text is None or _is_chunked(response):
        return None
    if not WHOLE_NUMBER.fullmatch(text.strip()):
        raise PassingError(f"the server sent a wrong length: {text[:40]!r}")
    return int(text)


def _is_chunked(response: requests.Response) -> bool:
    return "Transfer-Encoding" in response.headers


def _validator(response: requests.Response) -> Validator | None:
    """What If-Range may send: a strong ETag, or a date of change that is a second old or more.

    RFC 9110, 8.8.2.2: a file may change twice within the second that Last-Modified names.
    """
    etag = response.headers.get("ETag", "").strip()
    if STRONG_ETAG.fullmatch(etag):
        return Validator("ETag", etag)
    changed, now = (response.headers.get(name, "").strip() for name in ("Last-Modified", "Date"))
    try:
        age = parsedate_to_datetime(now).timestamp() - parsedate_to_datetime(changed).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return Validator("Last-Modified", changed) if age >= 1 and changed.isascii() else None


@contextmanager
def connection_errors() -> Iterator[None]:
    """Turn the errors of requests and urllib3 into MirrorError and PassingError."""
    try:
        yield
    except requests.exceptions.MissingSchema as error:
        raise MirrorError("the address needs http:// or https://") from error
    except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
        raise MirrorError("not a usable address") from error
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        raise PassingError(f"the connection failed ({_cause(error)})") from error
    except ValueError as error:  # requests passes on what Python says of some wrong addresses
        raise MirrorError(f"not a usable answer ({_cause(error)})") from error


def _cause(error: BaseException) -> str:
    """Message of the innermost cause of an error, which requests wraps several times."""
    inner = error.__cause__ or error.__context__
    return _cause(inner) if inner else str(error) or type(error).__name__


def within(seconds: float, call: Callable[[], T], give_up: Callable[[], None], problem: str) -> T:
    """The result of `call`, or PassingError with `problem` after `seconds`.

    The timeout of a socket starts anew with every byte, so a server that sends a byte a minute
    would hold a download for years. The call runs in a thread that may be left behind.
    """
    outcome: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as error:
            outcome.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        result, error = outcome.get(timeout=seconds)
    except Empty:
        give_up()
        raise PassingError(problem) from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def _hang_up(response: requests.Response) -> None:
    """End the connection, so that a thread that still reads from it ends, too."""
    with suppress(Exception):  # released already, or closed by the server
        response.raw.shutdown()
