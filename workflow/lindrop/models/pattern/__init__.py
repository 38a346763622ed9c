"""EDLAE on a pattern: full-rank EDLAE with k neighbours per item, solved without X'X."""
