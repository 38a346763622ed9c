"""Figures of Pal 2020, one module each."""
