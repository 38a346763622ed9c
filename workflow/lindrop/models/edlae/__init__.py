"""Low-rank emphasised denoising (Eq. 10) and its approximation with a zero diagonal (Eq. 11)."""
