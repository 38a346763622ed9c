"""Autoencoders with one hidden layer (Pretorius 2018), trained by full-batch gradient descent."""
