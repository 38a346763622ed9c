"""What benchmarks at published sizes make of their measurements, on tiny ones."""

import limits
import pandas as pd
import pytest
from rules_at_scale import by_rule, cost_table


def job(rule, seconds, model="", **more):
    sizes = {"core_seconds": 2 * seconds, "peak_gb": 1.0, "asked_gb": 2.0, "written_gb": 0.5}
    return {"set": "msd", "rule": rule, "model": model, "seconds": seconds, **sizes} | more


JOBS = pd.DataFrame(
    [
        job("tune", 90, "ease", core_seconds=95, peak_gb=1.5),
        job("checks", 6),
        job("tune", 30, "ease", asked_gb=4.0),
        job("tune", 60, "edlae"),
        job("split", 12),
    ]
)


def test_jobs_of_a_rule_and_a_model_are_one_line_in_the_order_of_the_work():
    found = by_rule(JOBS)
    assert list(zip(found["rule"], found["model"], strict=True)) == [
        ("split", ""),
        ("tune", "ease"),
        ("tune", "edlae"),
        ("checks", ""),
    ]
    ease = found.iloc[1]
    assert (ease["jobs"], ease["seconds"], ease["core_seconds"]) == (2, 120, 155)
    assert (ease["longest_seconds"], ease["longest_core_seconds"]) == (90, 95)
    assert (ease["peak_gb"], ease["asked_gb"], ease["written_gb"]) == (1.5, 4.0, 1.0)
    fits = by_rule(JOBS.assign(rule=JOBS["rule"].replace("tune", "fit")))
    costs = cost_table(fits).set_index("job")["msd"]
    assert dict(costs) == {"fit ease": "90 s (95)", "fit edlae": "60 s (120)"}


@pytest.mark.parametrize(("name", "kind"), [("X'X", "increments"), ("invert", "matrix product")])
def test_a_step_is_measured_beside_its_bound(name, kind, tmp_path, monkeypatch):
    """The machine is said to do 10⁸ of anything per second, and the step to take half a second."""
    monkeypatch.setattr(limits, "RATES", dict.fromkeys(limits.RATES, lambda items: 1e8))
    monkeypatch.setattr(limits, "seconds_of", lambda run, runs: (run(), 0.5)[1])
    data = limits.Data(300, tmp_path)
    pairs = sum(n * (n + 1) / 2 for n in data.x.sum(axis=1))
    bound = {"increments": pairs, "matrix product": data.items**3}[kind] / 1e8
    assert bound > 0.01
    assert limits.measured(name, data) == {
        "step": name,
        "bound": kind,
        "rate": "0.1 G/s",
        "bound_seconds": f"{bound:.3f}",
        "seconds": "0.500",
        "share": f"{200 * bound:.0f} %",
        "note": "",
    }
