"""Autoencoders with one hidden layer, trained by gradient descent on all samples at once."""
