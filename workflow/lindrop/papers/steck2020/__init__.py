"""Steck 2020 (EDLAE): its table, its figures, and the checks of its claims.

The mathematics is in `lindrop.models`: the theorem (Eq. 6) and the full-rank closed forms of Eq. 5,
8 and 9 in `full_rank`, low-rank EDLAE (Eq. 10 and 11) in `edlae`, and rows 1 to 3 of Table 1 in
`closed_form`; the objective of Eq. 6 as printed is `equation_6` in `problems`.
"""
