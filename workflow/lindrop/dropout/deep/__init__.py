"""Dropout before the last layer of a deep network. Needs PyTorch (requirements-deep.txt)."""
