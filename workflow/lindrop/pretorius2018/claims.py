"""Ids of the claims of Pretorius 2018 that are checked without a figure's data (see `checks`)."""

CLAIMS = (
    "section_a",
    "section_b",
    "section_c",
    "section_d",
    "section_e",
    "e20",
    "e21",
    "e22",
)
