"""What a batch of users costs; every function gives the mean over its users.

Logits are dense, users × items of one batch. X is sparse and read at its entries alone.
"""

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import softplus


def multinomial(logits: Tensor, x: sp.csr_array) -> Tensor:
    """-Σ x log softmax(logits), as Σ x (log Σ exp(logits) - logits) (Liang 2018, Eq. 2)."""
    users, items, values = _entries(x)
    surprise = torch.logsumexp(logits, 1)[users] - logits[users, items]
    return (values * surprise).sum() / len(logits)


def kl_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, variance) ‖ N(0, I)) = ½ Σ (variance + mean² - 1 - log variance)."""
    terms = log_variance.exp() + mean**2 - 1 - log_variance
    return terms.sum() / (2 * len(mean))


def square(logits: Tensor, x: sp.csr_array, zero_weights: Tensor) -> Tensor:
    """Σ w (x - tanh(logits))², where w is 1 at the entries of X and the user's weight elsewhere."""
    users, items, values = _entries(x)
    outputs = torch.tanh(logits)
    hit = outputs[users, items]
    everywhere = zero_weights @ (outputs**2).sum(1)
    return (everywhere + ((values - hit) ** 2 - zero_weights[users] * hit**2).sum()) / len(logits)


def logistic(logits: Tensor, x: sp.csr_array, zero_weights: Tensor) -> Tensor:
    """-Σ w (x log σ(logits) + (1 - x) log(1 - σ(logits))), weighted as in `square`."""
    users, items, values = _entries(x)
    costs = softplus(logits)
    hit = costs[users, items]
    everywhere = zero_weights @ costs.sum(1)
    at_entries = hit - values * logits[users, items] - zero_weights[users] * hit
    return (everywhere + at_entries.sum()) / len(logits)


def sampled_zeros(x: sp.csr_array, negatives: float) -> Tensor:
    """The chance of a zero of each user to be among `negatives` sampled ones per entry, 1 at most.

    With these weights a sum over all zeros is the expectation of the sum over those that Wu 2016
    samples.
    """
    entries = np.diff(x.indptr).astype(np.float32)
    zeros = np.maximum(x.shape[1] - entries, 1)
    return torch.from_numpy(np.minimum(negatives * entries / zeros, 1).astype(np.float32))


def _entries(x: sp.csr_array) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and value of every entry."""
    users = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    values = torch.from_numpy(x.data.astype(np.float32, copy=False))
    return torch.from_numpy(users), torch.from_numpy(x.indices.astype(np.int64)), values
