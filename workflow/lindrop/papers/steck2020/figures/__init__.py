"""Figures of Steck 2020, one module each."""
