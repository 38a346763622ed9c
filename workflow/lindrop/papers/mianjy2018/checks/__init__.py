"""Sections of Mianjy 2018: every module has `checks(seed)`, which asks its claims of numbers."""
