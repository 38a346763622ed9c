"""What a training takes; without PyTorch, since the rules ask for it."""

from itertools import pairwise

COPIES = 5  # of all parameters: themselves, gradient, two moments of Adam, the best ones
ACTIVATIONS = 4  # matrices of batch × items at once


def training_bytes(
    model: str, items: int, users: int, batch: int, latent: int, hidden: int
) -> float:
    """Peak in float32, beside the interactions; `hidden` is 0 of a network without such layers."""
    numbers = COPIES * parameters(model, items, users, latent, hidden)
    return 4.0 * (numbers + ACTIVATIONS * batch * items)


def parameters(model: str, items: int, users: int, latent: int, hidden: int) -> int:
    """Of its network: weights, biases, and the vectors of CDAE's users."""
    inner = [hidden] if hidden else []
    middle = 2 * latent if model == "mult_vae" else latent  # mean and variance
    stacks = [items, *inner, middle], [latent, *inner, items]
    layers = sum((inputs + 1) * outputs for each in stacks for inputs, outputs in pairwise(each))
    return layers + (users * latent if model == "cdae" else 0)
