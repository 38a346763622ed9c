"""What a job says of its progress."""

from types import SimpleNamespace

import pytest

from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress, job


@pytest.mark.parametrize(
    ("unit", "total", "done", "elapsed", "said"),
    [
        ("fits", 4, 1, 90, "tuning: 1 of 4 fits (25 %), 90 s each, 270 s left"),
        ("fits", 40, 30, 10, "tuning: 30 of 40 fits (75 %), 3.0 fits/s, 3 s left"),
        ("MB", 20_000_000, 5_000_000, 50, "tuning: 5 of 20 MB (25 %), 0.1 MB/s, 150 s left"),
        ("MB", None, 5_000_000, 5, "tuning: 5 MB, 1.0 MB/s"),
    ],
)
def test_progress_says_how_fast_and_how_long(unit, total, done, elapsed, said, monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = Progress("tuning", total, unit=unit)
    progress.done, now = done, now + elapsed
    assert str(progress) == said


def test_an_error_is_written_as_one_line_at_once(tmp_path, monkeypatch):
    """Two jobs that fail together share an output, which need not be buffered."""
    written = []
    stream = SimpleNamespace(write=written.append, flush=lambda: None)
    monkeypatch.setattr("sys.stderr", stream)
    with pytest.raises(SystemExit), job(tmp_path / "log", "dataset mine"):
        raise UserError("broken")
    assert written == ["lindrop: error: dataset mine: broken\n"]
