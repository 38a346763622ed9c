"""Which networks there are; imports nothing, since the rules read it."""


def kinds(noise: float) -> list[str]:
    """The networks of one activation; where the two readings of `noise` are one, one DAE."""
    return ["ae", "wdae", "dae", *(["dae_variance"] if noise**0.5 != noise else [])]
