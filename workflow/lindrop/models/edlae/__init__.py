"""Low-rank EDLAE (Steck 2020, Eq. 10) and its approximation with a zero diagonal (Eq. 11)."""
