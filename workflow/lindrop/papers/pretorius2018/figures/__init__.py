"""Figures of Pretorius 2018, one module each."""
