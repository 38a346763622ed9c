"""What a run spent before its jobs began to work, from the logs of its jobs."""

import pandas as pd
import pytest
import startup

from lindrop.base.reporting import STARTED


def test_the_logs_of_a_run_tell_what_was_not_work(tmp_path):
    logs = {
        "steck2020_checks.log": (1.0, 3.0),
        "steck2020_fig1_left.log": (1.5, 0.5),
        "fit/demo/ease.log": (0.5, 0.5),
        "fit/demo/edlae.log": (0.5, 2.5),
    }
    for name, times in logs.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"12:00:00 begun\n12:00:09 {STARTED % times}\n")
    (tmp_path / "failed.log").write_text("12:00:00 error: no such file\n")
    found = startup.jobs(tmp_path).set_index("what")
    assert list(found.index) == ["steck2020, figures and checks", "fit", "all jobs"]
    assert list(found["jobs"]) == [2, 2, 4]
    assert list(found["to start"]) == [2.5, 1.0, 3.5]
    assert list(found["to work"]) == [3.5, 3.0, 6.5]
    assert list(found["share"]) == [0.417, 0.25, 0.35]
    assert startup.jobs_table(found.reset_index().assign(items=None))["not work"].tolist() == [
        "42%",
        "25%",
        "35%",
    ]
    with pytest.raises(SystemExit, match="no log of a finished job"):
        startup.jobs(tmp_path / "failed")


def test_a_saved_model_is_used_by_new_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(startup, "RUNS", 1)
    found = startup.library(60)
    assert list(found["what"]) == list(startup.CALLS)
    assert (found["to start"] > 0).all()
    table = startup.library_table(pd.DataFrame(found))
    assert len(table) == len(startup.CALLS)
