"""The deep models by name, with their titles; imports nothing, since the rules read it."""

TITLES = {"cdae": "CDAE", "mult_vae": "Mult-VAE", "mult_dae": "Mult-DAE"}
