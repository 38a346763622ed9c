"""Linear autoencoders: one file per family, one registry."""
