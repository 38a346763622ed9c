"""Takes what the process and its jobs write to the terminal, so that a bar can stay below it."""

import os
import select
import sys
from contextlib import suppress


class Captured:
    """A terminal, and a pipe in its place behind file descriptor 2.

    Jobs inherit the descriptor: without the pipe, their errors would break the bar or be drawn
    over. Standard output goes the same way where it is the same terminal.
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
        # every byte that was written can be decoded, and is the same byte once encoded again
        self.terminal = os.fdopen(self._terminal, "w", encoding="utf-8", errors="surrogateescape")

    def wait(self, timeout: float) -> None:
        """Wait until something was written, at most `timeout` seconds."""
        select.select([self._read], [], [], timeout)

    def read(self) -> str:
        """What was written; nothing if nothing was."""
        try:
            # a pipe holds less than that, so that nothing is left after one call
            return os.read(self._read, 1 << 20).decode(errors="surrogateescape")
        except BlockingIOError:
            return ""

    def write(self, text: str) -> None:
        """Write to the terminal as it is, and give up on one that is gone."""
        with suppress(OSError):
            self.terminal.write(text)
            self.terminal.flush()

    def size(self) -> os.terminal_size:
        """Columns and lines of the terminal as it is now; it may not know them."""
        with suppress(OSError):
            size = os.get_terminal_size(self._terminal)
            if size.columns and size.lines:
                return size
        return os.terminal_size((80, 24))

    def release(self) -> None:
        """Give the terminal back. What was written stays in the pipe until it is read."""
        _flush()
        for fd, before in self._before.items():
            os.dup2(before, fd)
            os.close(before)
        self._before.clear()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
