"""Linear autoencoders and dropout: the numerical library behind the workflow, usable alone."""

from lindrop.version import VERSION as __version__

__all__ = ["__version__"]
