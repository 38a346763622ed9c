"""Table 1, rows 1 to 3: low-rank autoencoders whose global optimum is an eigenvalue problem."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.linalg.packed import PackedGram
from lindrop.linalg.spectrum import top_eigenpairs
from lindrop.models.base import Fit, LowRank, Training, dropout_penalty
from lindrop.models.precision import inverted


def fit_weight_decay(data: Training, rank: int, ridge: float) -> Fit:
    """Row 1, ‖X - XUV'‖² + λ(‖U‖² + ‖V‖²): B = Σ (1 - λ/σ_i²)₊ v_i v_i', (σ_i², v_i) of X'X."""
    values, vectors = data.top_spectrum(rank)
    kept = np.maximum(values - ridge, 0.0) / _positive(values)
    root = np.sqrt(kept).astype(vectors.dtype)
    return Fit(LowRank(vectors * root, vectors * root))


def fit_product_l2(data: Training, rank: int, ridge: float) -> Fit:
    """Row 2, ‖X - XUV'‖² + λ‖UV'‖²: B = Σ σ_i²/(σ_i² + λ) v_i v_i'."""
    values, vectors = data.top_spectrum(rank)
    kept = _positive(values) / (_positive(values) + ridge)
    return Fit(LowRank(vectors * kept.astype(vectors.dtype), vectors))


def _positive(values: Vector) -> Vector:
    """Beyond the rank of G eigenvalues are zero up to rounding, of either sign."""
    positive: Vector = np.maximum(values, np.finfo(values.dtype).tiny)
    return positive


def fit_dropout_l2(data: Training, rank: int, p: float, ridge: float) -> Fit:
    """Row 3, ‖X - XUV'‖² + ‖Λ̃^½ UV'‖²: B = C G E E', E the top eigenvectors of G C G."""
    penalty = dropout_penalty(data.gram_diagonal, p, ridge)
    gram = inverted(data, penalty, rank)
    _, vectors = regularised_spectrum(gram, penalty, rank, data.seed)
    return Fit(LowRank(ridge_regression(gram, penalty, vectors), vectors))


def regularised_spectrum(
    gram: PackedGram, penalty: Vector, rank: int, seed: int
) -> tuple[Vector, Matrix]:
    """Top eigenpairs of G C G = G - Λ̃ + Λ̃ C Λ̃: their values add up to what the fit explains."""
    scale = penalty.astype(gram.dtype)[:, None]

    def times(y: Matrix) -> Matrix:
        product = gram.gram_times(y)
        product -= scale * (y - gram.inverse_times(scale * y))
        return product

    return top_eigenpairs(times, len(gram), rank, gram.dtype, seed)


def ridge_regression(gram: PackedGram, penalty: Vector, y: Matrix) -> Matrix:
    """C G Y = Y - C Λ̃ Y."""
    return y - gram.inverse_times(penalty.astype(gram.dtype)[:, None] * y)
