"""The experiments of Steck 2020: what its table and figures show, from fitted models."""
