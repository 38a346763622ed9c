"""Kinds of networks in Pretorius 2018; imports nothing, since the rules read it."""


def kinds(noise: float) -> list[str]:
    """Kinds of networks for one activation: ae, wdae, dae, and dae_variance if that differs.

    `noise` is the standard deviation of dae and the variance of dae_variance.
    """
    return ["ae", "wdae", "dae", *(["dae_variance"] if noise**0.5 != noise else [])]
