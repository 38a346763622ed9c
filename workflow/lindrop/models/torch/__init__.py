"""Deep autoencoders for recommendation; only training needs PyTorch (requirements-deep.in)."""
