"""Linear algebra in place, on one triangle, for matrices that nearly fill the memory."""
