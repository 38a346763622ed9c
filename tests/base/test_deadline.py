"""Work that has begun ends at its time, and cleans up behind itself."""

import signal
import time
from math import inf
from threading import Thread

import pytest

from lindrop.base.atomic import atomic
from lindrop.base.deadline import OutOfTime, until
from lindrop.base.parallel import over_blocks


def endless():
    while True:
        time.sleep(0.01)


def test_a_block_ends_at_its_time_and_leaves_no_clock():
    before, start = signal.getsignal(signal.SIGALRM), time.time()
    with pytest.raises(OutOfTime, match="too late"), until(start + 0.2, "too late"):
        endless()
    assert 0.2 <= time.time() - start < 5
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_time_that_is_over_ends_the_block_at_once():
    with pytest.raises(OutOfTime), until(0.0, "over"):
        endless()


@pytest.mark.parametrize("seconds", [inf, 3600])
def test_work_that_is_done_in_time_is_left_alone(seconds):
    with until(time.time() + seconds, "never"):
        done = sum(range(10))
    assert done == 45


def test_a_file_that_is_being_written_is_no_file(tmp_path):
    def write():
        with until(time.time() + 0.1, "over"), atomic(tmp_path / "a") as partial:
            partial.write_text("half")
            endless()

    with pytest.raises(OutOfTime):
        write()
    assert list(tmp_path.iterdir()) == []


def test_blocks_in_threads_that_have_not_begun_are_dropped(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    begun = []

    def block(first, last):
        begun.append(first)
        time.sleep(0.05)

    with pytest.raises(OutOfTime), until(time.time() + 0.2, "over"):
        over_blocks(block, 1000, 1)
    assert 2 <= len(begun) < 500


def test_what_a_destructor_swallows_is_raised_again(monkeypatch):
    monkeypatch.setattr("lindrop.base.deadline.AGAIN", 0.2)

    class Swallows:
        def __del__(self):
            time.sleep(0.3)

    def work():
        with until(time.time() + 0.1, "over"):
            each = Swallows()
            del each
            endless()

    monkeypatch.setattr("sys.unraisablehook", lambda ignored: None)
    with pytest.raises(OutOfTime):
        work()


def test_another_thread_has_no_clock():
    ended = []

    def work():
        with until(0.0, "over"):
            ended.append(True)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
