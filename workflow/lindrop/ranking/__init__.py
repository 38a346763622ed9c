"""Evaluate models: ranking metrics, their evaluation, and grids of hyper-parameters."""
