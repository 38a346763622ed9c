"""A terminal in which a command runs, and what a person sees on it."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import termios

import pyte

from support.repository import BIN, REPOSITORY

ENV = {
    **{k: v for k, v in os.environ.items() if k not in ("CI", "TERM", "NO_COLOR")},
    "PYTHONPATH": str(REPOSITORY / "workflow"),
}
SHOWN = [str(BIN / "snakemake"), "--cores", "2", "--show-failed-logs", "--logger", "lindrop"]
# Jobs that do not end before the test has written `go`, and one that ends at once. Without the
# trap, bash goes on if it is interrupted just when a `sleep` has ended by itself.
WAITING = """
rule all:
    input: "edlae.fit", "ease.fit", "split"

rule split:
    output: "split"
    shell: "touch {output}"

rule fit:
    input: "split"
    output: "{model}.fit"
    log: "logs/{model}.log"
    shell: "%s trap 'exit 130' INT; until [ -e go ]; do sleep 0.05; done; touch {output}"
"""


def heed_interrupts():
    """What a process inherits that was started in the background of a script: to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A pseudo-terminal of a given size; it shows what it is sent as a person would see it."""

    def __init__(self, command, folder, columns=80, lines=24, **env):
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = os.openpty()
        self._set_size(columns, lines)
        self.settings = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=env | {"TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=heed_interrupts,
        )
        os.close(slave)

    def _set_size(self, columns, lines):
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        self._set_size(columns, lines)
        self.screen.resize(lines, columns)

    @property
    def lines(self):
        """The lines of the screen that are not empty."""
        return [line.rstrip() for line in self.screen.display if line.strip()]

    @property
    def text(self):
        return "\n".join(self.lines)

    def _feed(self):
        """Take what comes next; whether anything can still come."""
        try:
            sent = os.read(self._master, 1 << 16)
        except OSError:  # Linux: nobody has the other side open any more
            sent = b""
        self._stream.feed(sent)
        return bool(sent)

    def until(self, pattern):
        """Wait until the screen shows it, and return the lines that it shows then."""
        while not re.search(pattern, self.text):
            assert self._feed(), f"ended without {pattern}:\n{self.text}"
        return self.lines

    def interrupt(self):
        """Send what Ctrl-C sends, to the command and its jobs alike."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self):
        """Wait until nobody writes any more; the command's exit status and the last screen."""
        while self._feed():
            pass
        os.close(self._master)
        return self.process.wait(), self.lines
