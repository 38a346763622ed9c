"""Learning dynamics of linear autoencoders, with noise on the inputs and with weight decay."""
