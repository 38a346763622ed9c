"""Jobs whose time is over write why there is no result, and are noted for the next run."""

import subprocess
import sys
import time

import pandas as pd
import pytest
from snakemake.benchmark import BenchmarkRecord

from lindrop.planning import limit
from lindrop.store.gram import read_gram
from lindrop.store.left_out import LeftOut, why_left_out, write_left_out
from lindrop.store.metrics import read_metrics_of
from lindrop.store.model import read_model
from lindrop.store.trials import read_choice, write_trials

# A step that nothing interrupts: a lock that is never free, while Python's own is held.
LOCK = (
    "library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(64); "
    "library.pthread_mutex_lock(lock); library.pthread_mutex_lock(lock)"
)
REASON = "not done within the budget of 0.002 min"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(limit.ENDS, "inf")
    monkeypatch.setenv(limit.MINUTES, "")


@pytest.fixture
def log(tmp_path):
    (tmp_path / "job.log").write_text("begun\n")
    return tmp_path / "job.log"


def test_without_a_budget_nothing_ends(monkeypatch, log):
    monkeypatch.delenv(limit.ENDS)
    with limit.kept_to_budget("mine", "ease", ["out.h5"], log):
        done = True
    assert done
    assert not limit.times_left_out()


def test_a_job_whose_time_is_over_says_so_in_all_its_outputs(tmp_path, log):
    limit.begin(0.002)
    outputs = [tmp_path / "metrics.h5", tmp_path / "model.h5"]
    with limit.kept_to_budget("mine", "ease", outputs, log):
        outputs[0].write_text("begun")
        time.sleep(10)
        pytest.fail("not ended")
    for output in outputs:
        assert why_left_out(output) == REASON
    assert limit.times_left_out() == {("mine", "ease"): 1}
    with limit.kept_to_budget("mine", "ease", outputs, log):
        time.sleep(10)
    assert limit.times_left_out()["mine", "ease"] == 2


def test_a_fit_whose_time_is_over_leaves_its_tuning_as_it_is(tmp_path, log):
    limit.begin(0.002)
    with limit.kept_to_budget("mine", "ease", [tmp_path / "ease.h5"], log, limit.FIT):
        time.sleep(10)
        pytest.fail("not ended")
    assert limit.times_left_out() == {("mine", "fit of ease"): 1}
    file = tmp_path / "ease.h5"
    started(lambda *given: pytest.fail("started"), "", [], file, log, step=limit.FIT)
    assert limit.times_left_out() == {("mine", "fit of ease"): 2}
    assert why_left_out(file) == REASON
    ran = []
    Wildcards.model = limit.ALWAYS
    started(lambda *given: ran.append(given), "", [], file, log, step=limit.FIT)
    Wildcards.model = "ease"
    assert ran


def test_a_job_without_its_input_is_left_out_for_the_same_reason(tmp_path, log):
    trials, output = tmp_path / "0.csv", tmp_path / "model.h5"
    write_left_out(trials, "the reason")
    with limit.kept_to_budget("mine", "ease", [output], log):
        read_choice([trials], {"lambda": [1, 2]}, [5], "ndcg@100", "ease", "")
    assert why_left_out(output) == "the reason"
    assert not limit.times_left_out()  # its tuning is noted


@pytest.mark.parametrize("read", [read_model, read_metrics_of, read_gram])
def test_readers_say_the_reason_instead_of_damage(tmp_path, read):
    file = tmp_path / "ease.h5"
    write_left_out(file, "the reason")
    with pytest.raises(LeftOut, match=r"ease\.h5: the reason$"):
        read(file)


def test_results_are_not_left_out(tmp_path):
    write_trials(tmp_path / "0.csv", pd.DataFrame({"rank": [1]}), "ease", "")
    assert why_left_out(tmp_path / "0.csv") == ""


class Wildcards:
    dataset, model = "mine", "ease"


def started(run, what, inputs, output, log, **more):
    """Call the function of a rule as Snakemake does for a job with a script; what it measured."""
    measured = BenchmarkRecord()
    job = limit.ended_with_budget(run, what, **more)
    job(inputs, [output], (), Wildcards, 1, {}, [log], measured, "tune")
    return measured


def test_no_script_starts_once_the_budget_is_over(tmp_path, log, capfd):
    ran = []
    file = tmp_path / "0.csv"
    limit.begin(60)
    started(lambda *given: ran.append(given), "", [], file, log)
    assert len(ran) == 1
    assert ran[0][-1] == "tune"
    limit.begin(0.002)
    time.sleep(0.2)
    record = started(lambda *given: pytest.fail("started"), "", [], file, log)
    assert record.to_tsv(False).startswith("0.00\t")  # Snakemake writes it
    assert why_left_out(file) == REASON
    assert limit.times_left_out() == {("mine", "ease"): 1}
    told = f"lindrop: warning: dataset mine, model ease: left out: {REASON}\n"
    assert capfd.readouterr().err == told
    fitted = tmp_path / "ease.h5"
    started(lambda *given: pytest.fail("started"), "", [file], fitted, log)
    assert why_left_out(fitted) == REASON
    started(lambda *given: pytest.fail("started"), "so far", [], tmp_path / "0.md", log, told=False)
    assert limit.times_left_out() == {("mine", "ease"): 1}  # its tuning was noted and told
    assert not capfd.readouterr().err
    Wildcards.model = limit.ALWAYS
    started(lambda *given: ran.append(given), "", [], file, log)
    Wildcards.model = "ease"
    assert len(ran) == 2


def test_a_stage_that_models_wait_for_is_noted_by_its_own_name(tmp_path, log):
    limit.begin(0.002)
    time.sleep(0.2)
    started(lambda *given: pytest.fail("started"), "gram", [], tmp_path / "gram.h5", log)
    assert limit.times_left_out() == {("mine", "gram"): 1}


def test_a_step_that_nothing_interrupts_ends_with_its_process(tmp_path, log):
    script = (
        "import ctypes; from lindrop.planning import limit; limit.GRACE = 0.3\n"
        f"open({str(log)!r}, 'w').write('begun\\n')\n"
        f"with limit.kept_to_budget('mine', 'ease', [], {str(log)!r}):\n"
        f"    {LOCK}\n"
    )
    limit.begin(0.02)

    def run(*given):
        subprocess.run([sys.executable, "-c", script], check=True)

    begun, file = time.monotonic(), tmp_path / "0.csv"
    started(run, "", [], file, log)
    assert time.monotonic() - begun < 30
    assert why_left_out(file) == "not done within the budget of 0.02 min"
    assert "begun\nTimeout (" in log.read_text()


@pytest.mark.parametrize("earlier", ["begun\n", f"begun\n{limit.ENDED}0:00:03)!\n"])
def test_a_job_that_fails_is_not_left_out(tmp_path, log, earlier):
    """This holds even if the log is still that of an earlier job that was left out."""
    log.write_text(earlier)
    limit.begin(60)
    with pytest.raises(ZeroDivisionError):
        started(lambda *given: 1 / 0, "", [], tmp_path / "0.csv", log)
    assert not why_left_out(tmp_path / "0.csv")


WORKFLOW = """
from lindrop.planning import limit

rule all:
    input: "mine/hangs.h5", "mine/later.h5"

rule tune:
    output: "{dataset}/{model}.csv"
    log: "{dataset}/{model}.log"
    benchmark: "{dataset}/{model}.tsv"
    threads: 1
    script: "tune.py"

rule fit:
    input: rules.tune.output
    output: "{dataset}/{model}.h5"
    log: "{dataset}/{model}.fit.log"
    benchmark: "{dataset}/{model}.fit.tsv"
    script: "fails.py"

onstart:
    limit.GRACE = 0.3
    limit.begin(0.02)
    for name in ("tune", "fit"):
        made_by = workflow.get_rule(name)
        made_by.run_func = limit.ended_with_budget(made_by.run_func)
"""
SCRIPT = f"""
import ctypes, time
from lindrop.planning import limit

limit.GRACE = 0.3
open(snakemake.log[0], "w").close()
with limit.kept_to_budget(*snakemake.wildcards, snakemake.output, snakemake.log[0]):
    {LOCK}
"""


def test_a_run_of_snakemake_goes_on_without_what_is_not_done(tmp_path):
    """One tuning hangs until its process ends, the other comes too late; no fit has a script."""
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    (tmp_path / "tune.py").write_text(SCRIPT)
    (tmp_path / "fails.py").write_text("1 / 0")
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    reason = "not done within the budget of 0.02 min"
    for name in ("hangs.csv", "hangs.h5", "later.csv", "later.h5"):
        assert why_left_out(tmp_path / "mine" / name) == reason
    assert limit.times_left_out() == {("mine", "hangs"): 1, ("mine", "later"): 1}
    assert run.stderr.count("lindrop: warning: dataset mine, model ") == 2
    assert (tmp_path / "mine" / "later.fit.tsv").exists()
