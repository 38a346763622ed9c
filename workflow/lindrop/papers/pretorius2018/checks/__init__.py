"""Sections of Pretorius 2018: every module has `checks(seed)`, which asks its claims of numbers."""
