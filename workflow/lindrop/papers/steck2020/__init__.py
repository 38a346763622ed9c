"""Steck 2020 (EDLAE): its table, its figures, and the checks of its claims."""
