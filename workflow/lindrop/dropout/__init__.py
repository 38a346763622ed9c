"""Dropout in networks with one hidden layer: objectives, closed-form optima, training dynamics."""
