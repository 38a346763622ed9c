"""The cost model asks for what the library asks for, and its pages show what it prints."""

import cost_model
import pytest

from lindrop.base.errors import UserError
from lindrop.models.catalogue import CATALOGUE
from support.repository import REPOSITORY


@pytest.mark.parametrize("model", ["ease", "edlae", "sampled_dropout"])
@pytest.mark.parametrize("items", [1_000, 1_000_000])
def test_memory_is_what_a_fit_asks_for(model, items, monkeypatch):
    needed = cost_model.fit_bytes(model, items, 100)
    monkeypatch.setattr("lindrop.base.memory.available_bytes", lambda: needed)
    CATALOGUE[model].require_memory(cost_model.size_of(items, 100), [100])
    monkeypatch.setattr("lindrop.base.memory.available_bytes", lambda: needed - 1)
    with pytest.raises(UserError, match="needs"):
        CATALOGUE[model].require_memory(cost_model.size_of(items, 100), [100])


def test_full_rank_is_one_triangle_in_memory_and_in_its_file():
    assert cost_model.file_bytes(960) == 4 * 960**2
    assert 2e12 < cost_model.file_bytes(10**6) < cost_model.fit_bytes("ease", 10**6, 7) < 2.2e12
    assert cost_model.file_bytes(1000, rank=7) == 4 * 1000 * 14


def test_rates_are_those_that_reproduce_what_was_measured():
    rates = cost_model.Rates(full_rank=1e9, iteration=2e9, counting=10)
    table = cost_model.time_table(rates, (1000,), rank=50).iloc[0]
    assert list(table[:4]) == ["1,000", "1.7 min", "1.0 s", "0.1 s"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (59, "59.0 s"), (60, "1.0 min"), (1e6, "11.6 days")]
)
def test_durations_are_in_the_largest_unit_that_they_reach(seconds, text):
    assert cost_model.duration(seconds) == text


def test_its_page_shows_what_it_prints():
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    memory, time = cost_model.tables()
    for table in (memory, time):
        assert table.to_markdown(index=False, disable_numparse=True) in page
