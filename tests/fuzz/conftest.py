"""Nothing here runs without hypothesis, which is among the test tools."""

import pytest

pytest.importorskip("hypothesis")
