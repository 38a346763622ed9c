"""What a training takes; without PyTorch, since the rules ask for it."""

COPIES = 5  # of all parameters: themselves, gradient, two moments of Adam, the best ones
ACTIVATIONS = 4  # matrices of batch × items at once


def training_bytes(items: int, widest: int, batch: int, vectors: int = 0) -> float:
    """Peak in float32, beside the interactions; `vectors` counts the numbers of users' vectors."""
    parameters = 2 * items * widest + vectors
    return 4.0 * (COPIES * parameters + ACTIVATIONS * batch * items)
