"""Models with a closed form: popularity, and rows 1 to 3 of Table 1 of Steck 2020.

Those rows are low-rank autoencoders, solved by an eigenvalue problem.
"""

import numpy as np

from lindrop.base.arrays import Vector
from lindrop.linalg.spectrum import regularised_spectrum, ridge_regression
from lindrop.models.base import Fit, LowRank, Popularity, Training, dropout_penalty, users_of_items
from lindrop.models.memory import regularised_bytes
from lindrop.models.precision import inverted


def fit_popularity(data: Training) -> Fit:
    """Fit that scores every item by its number of training users, however often they have it."""
    return Fit(Popularity(users_of_items(data.x).astype(np.float64)))


def fit_weight_decay(data: Training, rank: int, ridge: float) -> Fit:
    """Minimise ‖X - XUV'‖² + λ(‖U‖² + ‖V‖²) (Steck 2020, Table 1, row 1) in closed form.

    UV' = Σ (1 - λ/σ_i²)₊ v_i v_i', with the `rank` largest eigenpairs (σ_i², v_i) of X'X.
    """
    values, vectors = data.top_spectrum(rank)
    kept = np.maximum(values - ridge, 0.0) / _positive(values)
    root = np.sqrt(kept).astype(vectors.dtype)
    return Fit(LowRank(vectors * root, vectors * root))


def fit_product_l2(data: Training, rank: int, ridge: float) -> Fit:
    """Minimise ‖X - XUV'‖² + λ‖UV'‖² (Steck 2020, Table 1, row 2) in closed form.

    UV' = Σ σ_i²/(σ_i² + λ) v_i v_i', with the `rank` largest eigenpairs (σ_i², v_i) of X'X.
    """
    values, vectors = data.top_spectrum(rank)
    kept = _positive(values) / (_positive(values) + ridge)
    return Fit(LowRank(vectors * kept.astype(vectors.dtype), vectors))


def _positive(values: Vector) -> Vector:
    """Eigenvalues of G, those that rounding made zero or negative raised to a tiny number."""
    positive: Vector = np.maximum(values, np.finfo(values.dtype).tiny)
    return positive


def fit_dropout_l2(data: Training, rank: int, p: float, ridge: float) -> Fit:
    """Minimise ‖X - XUV'‖² + ‖Λ̃^½ UV'‖² (Steck 2020, Table 1, row 3) in closed form.

    UV' = C G E E', with C = (G + Λ̃)⁻¹ and the `rank` top eigenvectors E of G C G.
    """
    penalty = dropout_penalty(data.gram_diagonal, p, ridge)
    gram = inverted(data, penalty, regularised_bytes(data.items, rank))
    _, vectors = regularised_spectrum(gram, penalty, rank, data.seed)
    return Fit(LowRank(ridge_regression(gram, penalty, vectors), vectors))
