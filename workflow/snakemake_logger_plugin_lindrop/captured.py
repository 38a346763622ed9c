"""Capture what the process and its jobs write to the terminal, so that a bar stays below it."""

import os
import select
import sys
from contextlib import suppress


class Captured:
    """The terminal, with a pipe in its place behind file descriptor 2 (standard error).

    Jobs inherit the descriptor: without the pipe, their errors would break the bar or be drawn
    over. Standard output is redirected to the pipe as well if it is the same terminal.
    """

    def __init__(self) -> None:
        _flush()
        self._terminal = os.dup(2)
        self._read, write = os.pipe()
        os.set_blocking(self._read, False)
        same = os.isatty(1) and os.path.sameopenfile(1, 2)
        self._before = {fd: os.dup(fd) for fd in ((1, 2) if same else (2,))}
        for fd in self._before:
            os.dup2(write, fd)
        os.close(write)
        # with surrogateescape, any byte can be decoded and is encoded as the same byte again
        self.terminal = os.fdopen(self._terminal, "w", encoding="utf-8", errors="surrogateescape")

    def wait(self, timeout: float) -> None:
        """Wait until something was written, at most `timeout` seconds."""
        select.select([self._read], [], [], timeout)

    def read(self) -> str:
        """Text written since the last call; empty if there is none."""
        try:
            # a pipe holds less than 1 MB, so one call reads all of it
            return os.read(self._read, 1 << 20).decode(errors="surrogateescape")
        except BlockingIOError:
            return ""

    def write(self, text: str) -> None:
        """Write text to the terminal unchanged; ignore errors of a terminal that is gone."""
        with suppress(OSError):
            self.terminal.write(text)
            self.terminal.flush()

    def size(self) -> os.terminal_size:
        """Current columns and lines of the terminal; 80 × 24 if it does not report them."""
        with suppress(OSError):
            size = os.get_terminal_size(self._terminal)
            if size.columns and size.lines:
                return size
        return os.terminal_size((80, 24))

    def release(self) -> None:
        """Restore the descriptors; text in the pipe can still be read."""
        _flush()
        for fd, before in self._before.items():
            os.dup2(before, fd)
            os.close(before)
        self._before.clear()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
