"""The objective that dropout minimises (Mianjy 2018, Eq. 1 to 4), with gradients.

The targets are y = Mx with E[xx'] = I, and the network predicts UV'x. Columns of U and V belong to
hidden nodes; tied weights mean U = V. Dropout keeps a node with probability θ; λ = (1 − θ)/θ.
"""

import numpy as np

from lindrop.base.arrays import Matrix, Vector


def lam_of(keep: float) -> float:
    """Strength of dropout λ = (1 − θ)/θ, from the probability θ of keeping a node."""
    return (1 - keep) / keep


def keep_of(lam: float) -> float:
    """Probability of keeping a node θ = 1/(1 + λ), from the strength of dropout λ."""
    return 1 / (1 + lam)


def squared_norms(u: Matrix) -> Vector:
    """‖u_i‖² of every column of U."""
    return np.asarray(np.einsum("ij,ij->j", u, u))


def importance(u: Matrix, v: Matrix) -> Vector:
    """Importance scores α_i = ‖u_i‖‖v_i‖ of hidden nodes, which dropout equalises (Section 6)."""
    return np.asarray(np.sqrt(squared_norms(u) * squared_norms(v)))


def path_regulariser(u: Matrix, v: Matrix) -> float:
    """Path regulariser ψ₂ = √(Σ ‖u_i‖²‖v_i‖²) (Mianjy 2018, Eq. 3)."""
    return float(np.sqrt(squared_norms(u) @ squared_norms(v)))


def expected_loss(m: Matrix, u: Matrix, v: Matrix) -> float:
    """Expected loss without dropout, ℓ(U, V) = ‖M − UV'‖² (Mianjy 2018, Lemma A.1)."""
    return float(np.sum((m - u @ v.T) ** 2))


def objective(m: Matrix, u: Matrix, v: Matrix, lam: float) -> float:
    """Expected loss with dropout, f(U, V) = ‖M − UV'‖² + λ Σ ‖u_i‖²‖v_i‖² (Mianjy 2018, Eq. 2)."""
    return expected_loss(m, u, v) + lam * float(squared_norms(u) @ squared_norms(v))


def gradient(m: Matrix, u: Matrix, v: Matrix, lam: float) -> tuple[Matrix, Matrix]:
    """Derivatives of `objective` by U and by V, in their shapes."""
    error = u @ v.T - m
    return (
        2 * (error @ v + lam * u * squared_norms(v)),
        2 * (error.T @ u + lam * v * squared_norms(u)),
    )


def tied_objective(m: Matrix, u: Matrix, lam: float) -> float:
    """Expected loss with dropout and tied weights, f(U, U) (Mianjy 2018, Eq. 4)."""
    return objective(m, u, u, lam)


def tied_gradient(m: Matrix, u: Matrix, lam: float) -> Matrix:
    """Gradient of `tied_objective`, which depends on M through its symmetric part (M + M')/2 only.

    Appendix D of Mianjy 2018 prints it for a symmetric M.
    """
    symmetric = (m + m.T) / 2
    return np.asarray(4 * (u @ (u.T @ u) - symmetric @ u + lam * u * squared_norms(u)))
