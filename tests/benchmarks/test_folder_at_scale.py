"""The benchmark from a folder of files to a tested model, on a set that is small."""

import json

import folder_at_scale as benchmark
import pandas as pd
import pytest


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setitem(benchmark.SETS, "1m", (400, 300, 9_000, 50))
    monkeypatch.setattr(benchmark, "OUTPUT", tmp_path / "out.csv")


def test_steps_follow_from_each_other(small, tmp_path, capsys):
    given = {"neighbours": 20, "p": 0.5, "ridge": 10.0}
    model = {"name": "sparse_edlae", "parameters": given, "shards": 4}
    found = {}
    for step in benchmark.STEPS:
        benchmark.step(step, "1m", tmp_path, model)
        found[step] = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["read"]["result"] == "400 users, 300 items, 9,000 rows"
    assert found["load"]["result"].endswith(" entries")
    assert found["fit"]["result"].startswith("sparse_edlae with neighbours 20, p 0.5, ridge 10, ")
    assert "one of 4 shards" in found["shard"]["result"]
    assert found["evaluate"]["result"].startswith("sparse_edlae, ")
    assert "s without reading; ndcg@100 0." in found["evaluate"]["result"]
    benchmark.step("evaluate", "1m", tmp_path, None)
    assert 's without reading", "cores"' in capsys.readouterr().out


def test_a_row_takes_the_place_of_the_earlier_one(small):
    for name, step, seconds in (("10m", "read", 1), ("1m", "split", 2), ("1m", "read", 3)):
        benchmark.keep({"set": name, "step": step, "seconds": seconds})
    benchmark.keep({"set": "10m", "step": "read", "seconds": 4})
    rows = pd.read_csv(benchmark.OUTPUT)
    assert rows["set"].tolist() == ["1m", "1m", "10m"]
    assert rows["step"].tolist() == ["read", "split", "read"]
    assert rows["seconds"].tolist() == [3, 2, 4]
