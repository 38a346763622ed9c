"""Linear autoencoders and dropout: the numerical library behind the workflow, usable alone."""

__version__ = "0.1.0"
