"""Linear autoencoders and dropout: the numerical library behind the workflow, usable alone."""
