"""A line of progress where no test has ended for a while, beside pytest's own dots."""

import os
import threading
import time

import pytest

SILENCE = 20  # seconds


class Progress:
    """A plugin for the process that writes to the terminal, with pytest-xdist or without."""

    def __init__(self, config, silence=SILENCE, pause=1, clock=time.monotonic):
        self.silence, self.pause, self.clock = silence, pause, clock
        self.config, self.writer = config, None
        self.total, self.ended, self.running = 0, 0, {}
        self.heard = clock()
        self.over, self.writing = threading.Event(), threading.Lock()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def pytest_sessionstart(self):
        self.writer = self.config.get_terminal_writer()
        # a copy of the output, as pytest redirects its own while a test runs in this process
        self.writer._file = os.fdopen(os.dup(1), "w", buffering=1)
        self.thread.start()

    def pytest_sessionfinish(self):
        self.over.set()
        self.thread.join()

    def pytest_collection_finish(self, session):
        self.total = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.total = len(ids)  # every worker collects all

    def pytest_runtest_logstart(self, nodeid):
        self.running[nodeid] = self.clock()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self):
        with self.writing:  # whole lines, and dots beside them
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logfinish(self, nodeid):
        with self.writing:
            self.running.pop(nodeid, None)
            self.ended, self.heard = self.ended + 1, self.clock()
            yield

    def watch(self):
        while not self.over.wait(self.pause):
            with self.writing:
                if self.clock() - self.heard >= self.silence:
                    self.say()

    def say(self):
        self.heard = now = self.clock()
        apart = "\n" if self.writer.width_of_current_line else ""
        self.writer.write(f"{apart}{self.line(now)}\n", flush=True)

    def line(self, now):
        if not self.total:
            return "collecting tests"
        share = f"[{100 * self.ended / self.total:.0f} %]"
        running = ", ".join(
            f"{nodeid.removeprefix('tests/')} ({now - since:.0f} s)"
            for nodeid, since in self.running.copy().items()
        )
        return f"{share} {self.ended:,} of {self.total:,} tests; running: {running or 'none'}"
