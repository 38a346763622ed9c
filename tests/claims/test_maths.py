"""Formulas in text become HTML."""

import pytest

from lindrop.claims.page import typeset


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("‖u_i‖ a_{ρ−1} <", "‖u<sub>i</sub>‖ a<sub>ρ−1</sub> &lt;"),
        ("Σ_{i<ρ} ‖w‖_1", "Σ<sub>i&lt;ρ</sub> ‖w‖<sub>1</sub>"),
        ("U_iV_i'X, λ_min", "U<sub>i</sub>V<sub>i</sub>&#39;X, λ<sub>min</sub>"),
        ("θ^{1/r}, κ_ρ, ‖B‖_*", "θ<sup>1/r</sup>, κ<sub>ρ</sub>, ‖B‖<sub>*</sub>"),
        ("e^(2ξt/τ)", "e<sup>(2ξt/τ)</sup>"),
        ("pal2020_fig1 of max_rss", "pal2020_fig1 of max_rss"),
    ],
)
def test_subscripts_are_set(text, html):
    assert typeset(text) == html
