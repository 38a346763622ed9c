"""Figures of Mianjy 2018, one module each."""
