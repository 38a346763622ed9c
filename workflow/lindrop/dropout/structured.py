"""What structured dropout minimises in expectation (Pal 2020, Sections 3 and 4).

Y (a × N) is predicted by UH from hidden nodes H (d × N): H = V'X in a linear network, H = g(X) in
general. A mask z/μ multiplies the rows of H; DropConnect multiplies the entries of V by Z/θ. Forms
as printed stand beside what enumeration of all masks confirms.
"""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.objective import lam_of, squared_norms


def loss(y: Matrix, u: Matrix, hidden: Matrix) -> Vector:
    """‖Y − UH‖², of every H if there are several (… × d × N)."""
    return np.asarray(np.sum((u @ hidden - y) ** 2, axis=(-2, -1)))


def losses_of_nodes(y: Matrix, u: Matrix, hidden: Matrix, noise: Matrix) -> Vector:
    """‖Y − U diag(z) H‖² under every z, a row of the noise: ‖Y‖² − 2 z'c + z'Kz.

    K = U'U ⊙ HH' and c = diag(U'YH') are all that it takes of the samples.
    """
    c = np.sum(u * (y @ hidden.T), axis=0)
    squares = np.sum(noise @ _products(u, hidden) * noise, axis=1)
    return np.asarray(np.sum(y**2) - 2 * noise @ c + squares)


def _products(u: Matrix, hidden: Matrix) -> Matrix:
    """K = U'U ⊙ HH': inner products of the nodes' shares u_i h_i' of the output."""
    return np.asarray((u.T @ u) * (hidden @ hidden.T))


def regulariser(u: Matrix, hidden: Matrix, characteristic: Matrix) -> float:
    """Ω = ⟨C̄, U'U ⊙ HH'⟩ (Eq. 15)."""
    return float(np.sum(characteristic * _products(u, hidden)))


def objective(y: Matrix, u: Matrix, hidden: Matrix, characteristic: Matrix) -> float:
    """E ‖Y − U diag(z/μ) H‖² of the scheme with this C̄ (Lemma 3.1)."""
    return float(loss(y, u, hidden)) + regulariser(u, hidden, characteristic)


def gradient(
    y: Matrix, u: Matrix, v: Matrix, x: Matrix, characteristic: Matrix
) -> tuple[Matrix, Matrix]:
    """Derivatives of the objective of Lemma 3.1 with H = V'X, by U and by V."""
    hidden = v.T @ x
    error = u @ hidden - y
    return (
        2 * (error @ hidden.T + u @ (characteristic * (hidden @ hidden.T))),
        2 * x @ (error.T @ u + hidden.T @ (characteristic * (u.T @ u))),
    )


def dropout_regulariser(u: Matrix, hidden: Matrix, keep: float) -> float:
    """((1 − θ)/θ) Σ ‖u_i‖²‖h_i‖²: dropout in the last layer (Corollary 3.2 with E16)."""
    return lam_of(keep) * dropout_regulariser_as_printed(u, hidden)


def dropout_regulariser_as_printed(u: Matrix, hidden: Matrix) -> float:
    """Σ ‖u_i‖²‖h_i‖² (Eq. 17), which lacks (1 − θ)/θ."""
    return float(squared_norms(u) @ squared_norms(hidden.T))


def dropconnect_regulariser(u: Matrix, v: Matrix, inputs: Matrix, keep: float) -> float:
    """((1 − θ)/θ) Σ_k ‖u_k‖² Σ_j v_jk² ‖M_j‖², M_j being row j of the inputs M of V.

    The entries of a column of Z are independent, so the variances of their contributions add up
    (E18; the proof of Theorem 4.1 overlooks it in Eq. 55).
    """
    return lam_of(keep) * float(squared_norms(u) @ (v**2).T @ squared_norms(inputs.T))


def dropconnect_gradient(
    y: Matrix, u: Matrix, v: Matrix, inputs: Matrix, keep: float
) -> tuple[Matrix, Matrix]:
    """Derivatives of ‖Y − UV'M‖² + `dropconnect_regulariser`, by U and by V."""
    hidden, lengths = v.T @ inputs, squared_norms(inputs.T)
    error = u @ hidden - y
    return (
        2 * (error @ hidden.T + lam_of(keep) * u * (lengths @ v**2)),
        2 * (inputs @ (error.T @ u) + lam_of(keep) * lengths[:, None] * v * squared_norms(u)),
    )


def dropconnect_regulariser_as_printed(u: Matrix, v: Matrix, inputs: Matrix, keep: float) -> float:
    """((1 − θ)/θ) Σ ‖u_i‖²‖M'v_i‖², that of dropout (Theorem 4.1): right if MM' is diagonal."""
    return dropout_regulariser(u, v.T @ inputs, keep)
