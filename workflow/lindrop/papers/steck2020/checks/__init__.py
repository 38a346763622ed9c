"""Sections of Steck 2020: every module has `checks(seed)`, which asks its claims of numbers."""
