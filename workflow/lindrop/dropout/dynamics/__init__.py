"""Learning dynamics of linear autoencoders with input noise or weight decay (Pretorius 2018)."""
