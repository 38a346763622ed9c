"""The experiments of Pretorius 2018 (linear denoising autoencoders), and its claims checked."""
