"""The page shows the kills that were counted, and none of them left another result."""

import kills

from support.repository import REPOSITORY


def test_its_page_shows_what_it_prints():
    counted = kills.table()
    assert (counted["kills"] == counted["same results"]).all()
    page = (REPOSITORY / "docs" / "performance.md").read_text()
    assert counted.to_markdown(index=False) in page
