"""Find quotes of a csv or tsv file that swallow rows, while Arrow reads the file.

Arrow takes all that follows an unclosed quote for one value, up to the next quote or the end of the
file, and says nothing. Therefore every quote is looked at: one that opens a value stands at the
start of a value, and one that closes it stands at its end. Quotes come in turn, so the even ones
open and the odd ones close, and the two quotes that stand for one inside a value close and open.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lindrop.base.errors import UserError
from lindrop.data.archives import Member, opened

QUOTE = ord('"')
PART_BYTES = 1 << 19  # what the processor's cache holds
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Quotes:
    """Looks at every quote of a text that is given block by block."""

    def __init__(self, delimiter: str):
        self.ends = np.zeros(256, bool)
        self.ends[np.frombuffer(f'{delimiter}\r\n"'.encode(), np.uint8)] = True
        self.seen, self.odd, self.carried, self.begun = 0, False, b"\n\n", False

    def feed(self, block: bytes) -> None:
        """Look at the quotes of the next block; its last byte waits for what follows it."""
        if not self.begun and block:
            block, self.begun = block.removeprefix(BYTE_ORDER_MARK), True
        for start in range(0, len(block), PART_BYTES):
            part = block[start : start + PART_BYTES]
            if b'"' in part or b'"' in self.carried:
                self._look_at(self.carried + part)
            self.carried = (self.carried + part[-2:])[-2:]

    def _look_at(self, part: bytes) -> None:
        """Look at the quotes of a part but for its first and last byte."""
        text = np.frombuffer(part, np.uint8)
        at = np.flatnonzero(text[1:-1] == QUOTE) + 1
        first_opens = self.seen % 2
        opening, closing = at[first_opens::2], at[1 - first_opens :: 2]
        if not (self.ends[text[opening - 1]].all() and self.ends[text[closing + 1]].all()):
            self.odd = True
        self.seen += len(at)

    def in_order(self) -> bool:
        """Whether every quote of the text, which ends here, stands where it must."""
        self.feed(b"\n")
        return not self.odd and self.seen % 2 == 0


class Watched(io.RawIOBase):
    """A readable stream that shows every block to a `Quotes`."""

    def __init__(self, stream: Any, quotes: Quotes):
        self.stream, self.quotes = stream, quotes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self.stream.readinto(buffer)
        self.quotes.feed(bytes(memoryview(buffer)[:count]))
        return count


@contextmanager
def long_fields(most: int) -> Iterator[None]:
    """Let Python's csv reader read values of up to `most` characters."""
    before = csv.field_size_limit(most)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def require_closed(member: Member, delimiter: str, longest: int) -> None:
    """Raise UserError with the line of the first row whose quotes are wrong.

    Slow, so called only for a file with a quote in an odd place. A quote in the middle of a value
    that does not start with one, as in `5" disk`, is a character like any other.
    """
    line = 1
    with opened(member) as stream, long_fields(longest):
        text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig", "replace", newline="")
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                line = reader.line_num + 1
        except csv.Error as error:
            raise UserError(
                f"{member.name}, line {line}: a quote that is never closed, or a quote inside a "
                "quoted value that is not doubled; correct the quotes of the row that starts here"
            ) from error
