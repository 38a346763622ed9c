"""Expected losses of structured dropout and DropConnect (Pal 2020, Sections 3 and 4).

Y (a × N) is predicted by UH from hidden nodes H (d × N): H = V'X in a linear network, H = g(X) in
general. Dropout noise z/μ multiplies the rows of H; DropConnect noise Z/θ multiplies the entries of
V. Functions named `_as_printed` are the formulas of the paper that errata correct.
"""

import numpy as np

from lindrop.base.arrays import Matrix, Vector
from lindrop.dropout.objective import lam_of, squared_norms


def loss(y: Matrix, u: Matrix, hidden: Matrix) -> Vector:
    """‖Y − UH‖²; for an array of several H (… × d × N), one value for each."""
    return np.asarray(np.sum((u @ hidden - y) ** 2, axis=(-2, -1)))


def losses_of_nodes(y: Matrix, u: Matrix, hidden: Matrix, noise: Matrix) -> Vector:
    """‖Y − U diag(z) H‖² for every row z of the noise, computed as ‖Y‖² − 2 z'c + z'Kz.

    K = U'U ⊙ HH' and c = diag(U'YH') do not depend on z, so a draw costs O(d²).
    """
    c = np.sum(u * (y @ hidden.T), axis=0)
    squares = np.sum(noise @ _products(u, hidden) * noise, axis=1)
    return np.asarray(np.sum(y**2) - 2 * noise @ c + squares)


def _products(u: Matrix, hidden: Matrix) -> Matrix:
    """K = U'U ⊙ HH', the inner products of the nodes' contributions u_i h_i' to the output."""
    return np.asarray((u.T @ u) * (hidden @ hidden.T))


def regulariser(u: Matrix, hidden: Matrix, characteristic: Matrix) -> float:
    """Penalty of a dropout scheme, Ω = ⟨C̄, U'U ⊙ HH'⟩ (Pal 2020, Eq. 15)."""
    return float(np.sum(characteristic * _products(u, hidden)))


def objective(y: Matrix, u: Matrix, hidden: Matrix, characteristic: Matrix) -> float:
    """Expected loss E ‖Y − U diag(z/μ) H‖² of the scheme with the given C̄ (Pal 2020, Lemma 3.1)."""
    return float(loss(y, u, hidden)) + regulariser(u, hidden, characteristic)


def gradient(
    y: Matrix, u: Matrix, v: Matrix, x: Matrix, characteristic: Matrix
) -> tuple[Matrix, Matrix]:
    """Derivatives of `objective` with H = V'X by U and by V, in the shapes of U and V."""
    hidden = v.T @ x
    error = u @ hidden - y
    return (
        2 * (error @ hidden.T + u @ (characteristic * (hidden @ hidden.T))),
        2 * x @ (error.T @ u + hidden.T @ (characteristic * (u.T @ u))),
    )


def dropout_regulariser(u: Matrix, hidden: Matrix, keep: float) -> float:
    """Penalty of dropout before the last layer, ((1 − θ)/θ) Σ ‖u_i‖²‖h_i‖² (Corollary 3.2, E16)."""
    return lam_of(keep) * dropout_regulariser_as_printed(u, hidden)


def dropout_regulariser_as_printed(u: Matrix, hidden: Matrix) -> float:
    """Σ ‖u_i‖²‖h_i‖², the penalty in our copy of Pal 2020, Eq. 17, which lacks (1 − θ)/θ (E16)."""
    return float(squared_norms(u) @ squared_norms(hidden.T))


def dropconnect_regulariser(u: Matrix, v: Matrix, inputs: Matrix, keep: float) -> float:
    """Penalty of DropConnect, ((1 − θ)/θ) Σ_k ‖u_k‖² Σ_j v_jk² ‖M_j‖² (erratum E18).

    M_j is row j of the inputs M of V. The entries of a column of Z are independent, so variances of
    their contributions add up; Eq. 55 in the proof of Theorem 4.1 overlooks that.
    """
    return lam_of(keep) * float(squared_norms(u) @ (v**2).T @ squared_norms(inputs.T))


def dropconnect_gradient(
    y: Matrix, u: Matrix, v: Matrix, inputs: Matrix, keep: float
) -> tuple[Matrix, Matrix]:
    """Derivatives of ‖Y − UV'M‖² + `dropconnect_regulariser` by U and by V, in their shapes."""
    hidden, lengths = v.T @ inputs, squared_norms(inputs.T)
    error = u @ hidden - y
    return (
        2 * (error @ hidden.T + lam_of(keep) * u * (lengths @ v**2)),
        2 * (inputs @ (error.T @ u) + lam_of(keep) * lengths[:, None] * v * squared_norms(u)),
    )


def dropconnect_regulariser_as_printed(u: Matrix, v: Matrix, inputs: Matrix, keep: float) -> float:
    """Penalty of DropConnect by Theorem 4.1 as printed, ((1 − θ)/θ) Σ ‖u_i‖²‖M'v_i‖².

    It is that of dropout, and correct for DropConnect only if MM' is diagonal (erratum E18).
    """
    return dropout_regulariser(u, v.T @ inputs, keep)
