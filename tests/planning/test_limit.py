"""Jobs whose time is over write why there is no result, and are noted for the next run."""

import time

import pandas as pd
import pytest

from lindrop.planning import limit
from lindrop.store.left_out import LeftOut, why_left_out, write_left_out
from lindrop.store.metrics import read_metrics_of
from lindrop.store.model import read_model
from lindrop.store.trials import read_choice, write_trials


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(limit.ENDS, "inf")
    monkeypatch.setenv(limit.MINUTES, "")


def test_without_a_budget_nothing_ends(monkeypatch):
    monkeypatch.delenv(limit.ENDS)
    with limit.kept_to_budget("mine", "ease", ["out.h5"]):
        done = True
    assert done
    assert not limit.times_left_out()


def test_a_job_whose_time_is_over_says_so_in_all_its_outputs(tmp_path):
    limit.begin(0.002)
    outputs = [tmp_path / "metrics.h5", tmp_path / "model.h5"]
    with limit.kept_to_budget("mine", "ease", outputs):
        outputs[0].write_text("begun")
        time.sleep(10)
        pytest.fail("not ended")
    for output in outputs:
        assert why_left_out(output) == "not done when the budget of 0.002 min was over"
    assert limit.times_left_out() == {("mine", "ease"): 1}
    with limit.kept_to_budget("mine", "ease", outputs):
        time.sleep(10)
    assert limit.times_left_out()["mine", "ease"] == 2


def test_a_job_without_its_input_is_left_out_for_the_same_reason(tmp_path):
    trials, output = tmp_path / "0.csv", tmp_path / "model.h5"
    write_left_out(trials, "the reason")
    with limit.kept_to_budget("mine", "ease", [output]):
        read_choice([trials], {"lambda": [1, 2]}, [5], "ndcg@100", "ease", "")
    assert why_left_out(output) == "the reason"
    assert not limit.times_left_out()  # its tuning is noted


@pytest.mark.parametrize("read", [read_model, read_metrics_of])
def test_readers_say_the_reason_instead_of_damage(tmp_path, read):
    file = tmp_path / "ease.h5"
    write_left_out(file, "the reason")
    with pytest.raises(LeftOut, match=r"ease\.h5: the reason$"):
        read(file)


def test_results_are_not_left_out(tmp_path):
    write_trials(tmp_path / "0.csv", pd.DataFrame({"rank": [1]}), "ease", "")
    assert why_left_out(tmp_path / "0.csv") == ""
