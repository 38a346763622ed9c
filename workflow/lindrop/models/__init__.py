"""Recommenders: one module per family of models, and the catalogue that lists all of them."""
