"""Losses of a batch of users; every function returns the mean over the users of the batch.

Logits are dense, users × items. X, the interactions of the same users, is sparse.
"""

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import softplus


def multinomial(logits: Tensor, x: sp.csr_array) -> Tensor:
    """Multinomial loss per user, -Σ x log softmax(logits) (Liang 2018, Eq. 2).

    Computed as Σ x (log Σ exp(logits) - logits).
    """
    users, items, values = _entries(x)
    surprise = torch.logsumexp(logits, 1)[users] - logits[users, items]
    return (values * surprise).sum() / len(logits)


def kl_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, variance) ‖ N(0, I)) = ½ Σ (variance + mean² - 1 - log variance), per user."""
    terms = log_variance.exp() + mean**2 - 1 - log_variance
    return terms.sum() / (2 * len(mean))


def square(logits: Tensor, x: sp.csr_array, zero_weights: Tensor) -> Tensor:
    """Weighted square loss per user, Σ w (x - tanh(logits))².

    w is 1 at the entries of X, and the user's number in `zero_weights` elsewhere.
    """
    users, items, values = _entries(x)
    outputs = torch.tanh(logits)
    hit = outputs[users, items]
    everywhere = zero_weights @ (outputs**2).sum(1)
    return (everywhere + ((values - hit) ** 2 - zero_weights[users] * hit**2).sum()) / len(logits)


def logistic(logits: Tensor, x: sp.csr_array, zero_weights: Tensor) -> Tensor:
    """Weighted logistic loss per user, -Σ w (x log σ(logits) + (1 - x) log(1 - σ(logits))).

    w is 1 at the entries of X, and the user's number in `zero_weights` elsewhere.
    """
    users, items, values = _entries(x)
    costs = softplus(logits)
    hit = costs[users, items]
    everywhere = zero_weights @ costs.sum(1)
    at_entries = hit - values * logits[users, items] - zero_weights[users] * hit
    return (everywhere + at_entries.sum()) / len(logits)


def sampled_zeros(x: sp.csr_array, negatives: float) -> Tensor:
    """Probability, per user, that a zero is drawn when `negatives` zeros are sampled per entry.

    With these weights the sum over all zeros is the expectation of the sum over the sampled zeros
    of Wu 2016. The probability is at most 1.
    """
    entries = np.diff(x.indptr).astype(np.float32)
    zeros = np.maximum(x.shape[1] - entries, 1)
    return torch.from_numpy(np.minimum(negatives * entries / zeros, 1).astype(np.float32))


def _entries(x: sp.csr_array) -> tuple[Tensor, Tensor, Tensor]:
    """Row, column and value of every entry of X, as three tensors."""
    users = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    values = torch.from_numpy(x.data.astype(np.float32, copy=False))
    return torch.from_numpy(users), torch.from_numpy(x.indices.astype(np.int64)), values
