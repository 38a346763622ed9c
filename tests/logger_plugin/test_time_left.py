"""How long a run will still take: from benchmark files, finished jobs and what jobs say."""

import pytest

from snakemake_logger_plugin_lindrop.earlier import earlier_runs
from snakemake_logger_plugin_lindrop.run import Run
from snakemake_logger_plugin_lindrop.time_left import time_left
from snakemake_logger_plugin_lindrop.words import duration, last_words, left, seconds_left


def planned(earlier=(), **jobs):
    """A run of so many jobs of each rule; `earlier` maps benchmark files to seconds."""
    took = {}
    for file, seconds in dict(earlier).items():
        took.setdefault(file.partition("/")[0], {})[file] = seconds
    run = Run()
    run.plan(jobs | {"total": sum(jobs.values())}, took)
    return run


def start(run, number, file, now=0.0, log=()):
    fields = {"rule_name": file.partition("/")[0], "wildcards": {}, "log": log, "benchmark": file}
    run.start(number, fields, now)


def test_before_the_first_job_earlier_runs_say_how_long():
    run = planned({"fit/a": 10, "fit/b": 20, "split": 30}, fit=2, split=1, all=1)
    assert time_left(run, now=0) == pytest.approx(60), "the rule `all` takes no time"


def test_a_running_job_counts_for_what_it_took_itself():
    run = planned({"fit/a": 10, "fit/b": 50}, fit=2)
    start(run, 1, "fit/b")
    assert time_left(run, now=20) == pytest.approx(30 + 10)


def test_jobs_side_by_side_share_the_work():
    run = planned({"fit/a": 40, "fit/b": 40, "split": 20}, fit=2, split=1)
    start(run, 1, "fit/a")
    start(run, 2, "fit/b")
    assert time_left(run, now=10) == pytest.approx((30 + 30 + 20) / 2)


def test_a_run_takes_as_long_as_its_longest_job():
    run = planned({"fit/a": 1000, "fit/b": 20}, fit=2)
    start(run, 1, "fit/a")
    start(run, 2, "fit/b")
    assert time_left(run, now=10) == pytest.approx(990)


def test_what_finished_jobs_took_now_corrects_their_rule_most():
    def after(seconds):
        run = planned({"fit/a": 100, "fit/b": 100, "plot": 100}, fit=2, plot=1)
        start(run, 1, "fit/a")
        run.finish(1, now=seconds)
        start(run, 2, "fit/b", now=seconds)
        fit_and_plot = time_left(run, now=seconds)
        run.waiting.clear()
        return time_left(run, now=seconds), fit_and_plot

    assert after(100) == pytest.approx((100, 200))
    (half, _), (double, with_plot) = after(50), after(200)
    assert 50 < half < 60
    assert 190 < double < 200
    assert 100 < with_plot - double < 200, "a slow machine is slow for other rules, too"


def test_another_dataset_corrects_the_figure_of_its_rule():
    run = planned({"fit/small": 0.5}, fit=3)
    for number in (1, 2):
        start(run, number, f"fit/large{number}")
        run.finish(number, now=500)
    assert time_left(run, now=500) > 100


def test_a_rule_without_a_figure_takes_the_mean_of_the_others():
    run = planned({"split": 10, "fit/a": 30}, split=1, fit=1, plot=1)
    assert time_left(run, now=0) == pytest.approx(10 + 30 + 20)


def test_finished_jobs_do_where_there_was_no_earlier_run():
    run = planned(fit=4)
    start(run, 1, "fit/a")
    assert time_left(run, now=10) is None
    run.finish(1, now=12)
    assert time_left(run, now=12) == pytest.approx(36)


def test_nothing_is_better_than_nonsense():
    assert time_left(Run(), now=0) is None
    assert time_left(planned(fit=3), now=0) is None
    assert time_left(planned({"split": 1}, split=1, fit=9), now=0) is None, "one job of ten"
    late = planned({"fit/a": 10}, fit=1)
    start(late, 1, "fit/a")
    assert time_left(late, now=60) is None, "six times as long as before: who knows"


def test_a_late_job_may_say_itself_how_long(tmp_path):
    log = tmp_path / "fit.log"
    log.write_text("12:01:05 edlae: 40 of 120 fits (33 %), 2.1 fits/s, 1,038 s left\n")
    run = planned({"fit/a": 10}, fit=1)
    start(run, 1, "fit/a", log=[str(log)])
    assert time_left(run, now=60) == 1038


def test_a_retried_job_is_counted_once():
    run = planned({"fit/a": 10, "fit/b": 10}, fit=2)
    start(run, 1, "fit/a")
    run.fail(1)
    start(run, 1, "fit/a", now=5)
    assert (run.waiting["fit"], run.failed) == (1, set())


def test_benchmark_files_by_rule(tmp_path):
    head = "s\th:m:s\tmax_rss\n"
    for name, text in {
        "split.tsv": f"{head}1.5\t0:00:01\t3\n",
        "tune/demo/edlae/0.tsv": f"{head}2.0\t0:00:02\tNA\n3.0\t0:00:03\t3\n",
        "tune/demo/ease/0.tsv": f"{head}4.0\t0:00:04\t3\n",
        "cut.tsv": head,
        "empty.tsv": "",
        "odd.tsv": "s\nNA\n",
        "other.txt": "s\n1\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert earlier_runs(tmp_path) == {
        "split": {f"{tmp_path}/split.tsv": 1.5},
        "tune": {
            f"{tmp_path}/tune/demo/edlae/0.tsv": 5.0,
            f"{tmp_path}/tune/demo/ease/0.tsv": 4.0,
        },
    }
    assert earlier_runs(tmp_path / "absent") == {}


def test_the_last_words_of_a_log_are_those_of_this_run(tmp_path):
    log = tmp_path / "fit.log"
    assert last_words(None, since=0) is None
    assert last_words(str(log), since=0) is None
    long = "12:00:00 " + "x" * 5000
    log.write_text(f"{long}\n12:00:01 reading\n12:00:05 edlae: 2 of 9 fits, 7 s left\n  and so on")
    said = last_words(str(log), since=0)
    assert said == "edlae: 2 of 9 fits, 7 s left"
    assert seconds_left(said) == 7
    assert seconds_left("iteration 3: objective 5") == 0
    assert last_words(str(log), since=log.stat().st_mtime + 1) is None, "of an earlier run"


@pytest.mark.parametrize(
    ("seconds", "took", "rest"),
    [
        (0.04, "0.0 s", "a few seconds left"),
        (3.2, "3 s", "a few seconds left"),
        (44, "44 s", "about 40 s left"),
        (125, "2 min 5 s", "about 2 min left"),
        (4000, "1 h 6 min", "about 67 min left"),
        (11400, "3 h 10 min", "about 3 h 10 min left"),
        (86400, "24 h 0 min", "about 24 h left"),
        (4e5, "111 h 6 min", "about 5 days left"),
    ],
)
def test_times_in_words(seconds, took, rest):
    assert (duration(seconds), left(seconds)) == (took, rest)
