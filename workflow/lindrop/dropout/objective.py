"""The objective that dropout minimises (Mianjy 2018, Eq. 1 to 4), with gradients.

y = Mx, E[xx'] = I, and the network answers UV'x; a column of U and of V belongs to a hidden node.
Where weights are tied, U = V. Dropout keeps a node with probability θ; λ = (1 − θ)/θ.
"""

import numpy as np

from lindrop.base.arrays import Matrix, Vector


def lam_of(keep: float) -> float:
    """λ of the probability θ of keeping a node."""
    return (1 - keep) / keep


def keep_of(lam: float) -> float:
    """θ of λ."""
    return 1 / (1 + lam)


def squared_norms(u: Matrix) -> Vector:
    """‖u_i‖² of every column."""
    return np.asarray(np.einsum("ij,ij->j", u, u))


def importance(u: Matrix, v: Matrix) -> Vector:
    """Importance scores α_i = ‖u_i‖‖v_i‖ (Section 6): equal ones are what dropout strives for."""
    return np.asarray(np.sqrt(squared_norms(u) * squared_norms(v)))


def path_regulariser(u: Matrix, v: Matrix) -> float:
    """ψ₂ (Eq. 3): the root of the sum over all paths of the product of their squared weights."""
    return float(np.sqrt(squared_norms(u) @ squared_norms(v)))


def expected_loss(m: Matrix, u: Matrix, v: Matrix) -> float:
    """ℓ(U, V) = ‖M − UV'‖² (Lemma A.1)."""
    return float(np.sum((m - u @ v.T) ** 2))


def objective(m: Matrix, u: Matrix, v: Matrix, lam: float) -> float:
    """f(U, V) = ℓ(U, V) + λ Σ ‖u_i‖²‖v_i‖² (Eq. 2)."""
    return expected_loss(m, u, v) + lam * float(squared_norms(u) @ squared_norms(v))


def gradient(m: Matrix, u: Matrix, v: Matrix, lam: float) -> tuple[Matrix, Matrix]:
    """∂f/∂U and ∂f/∂V."""
    error = u @ v.T - m
    return (
        2 * (error @ v + lam * u * squared_norms(v)),
        2 * (error.T @ u + lam * v * squared_norms(u)),
    )


def tied_objective(m: Matrix, u: Matrix, lam: float) -> float:
    """f(U, U) (Eq. 4)."""
    return objective(m, u, u, lam)


def tied_gradient(m: Matrix, u: Matrix, lam: float) -> Matrix:
    """∇f(U); of M only the symmetric part is seen (Section D prints it for symmetric M)."""
    symmetric = (m + m.T) / 2
    return np.asarray(4 * (u @ (u.T @ u) - symmetric @ u + lam * u * squared_norms(u)))
