"""Memory that a training needs. Does not import PyTorch, as the workflow's rules call it."""

from itertools import pairwise

# arrays per parameter: its value, gradient, Adam's two moments, best value, and two temporaries
COPIES = 7
# matrices of batch × items at the same time, as measured: logits, their softmax, the terms of the
# gradient, and what the allocator leaves between arrays of changing sizes
ACTIVATIONS = {"cdae": 5, "mult_dae": 7, "mult_vae": 7}


def training_bytes(
    model: str, items: int, users: int, batch: int, latent: int, hidden: int
) -> float:
    """Peak bytes of a training in float32, beyond the interactions; `hidden` is 0 for no layer."""
    numbers = COPIES * parameters(model, items, users, latent, hidden)
    return 4.0 * (numbers + ACTIVATIONS[model] * batch * items)


def parameters(model: str, items: int, users: int, latent: int, hidden: int) -> int:
    """Number of a network's parameters: weights, biases, and the user vectors of CDAE."""
    inner = [hidden] if hidden else []
    middle = 2 * latent if model == "mult_vae" else latent  # mean and variance
    stacks = [items, *inner, middle], [latent, *inner, items]
    layers = sum((inputs + 1) * outputs for each in stacks for inputs, outputs in pairwise(each))
    return layers + (users * latent if model == "cdae" else 0)
