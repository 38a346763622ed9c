"""Linear algebra for large symmetric matrices, in place and on one triangle to save memory."""
