"""Deep autoencoders for recommendations. Only training needs PyTorch (requirements-deep.in)."""
