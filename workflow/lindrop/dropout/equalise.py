"""Rotations that make all columns of a matrix equally long (Mianjy 2018, Definition 2.1)."""

import numpy as np

from lindrop.base.arrays import Matrix, Vector


def equalizer(u: Matrix) -> Matrix:
    """Rotation Q for which all columns of UQ have equal norms (Mianjy 2018, Algorithm 2).

    The normalised sum w of all eigenvectors of the Gram matrix G = U'U has w'Gw = tr(G)/r, the mean
    of its diagonal, and becomes the first column of Q. The next columns follow in the same way from
    the orthogonal complement of w, where the mean of the diagonal is unchanged.
    """
    gram = u.T @ u
    q = np.eye(len(gram))
    for i in range(len(gram) - 1):
        vectors = np.linalg.eigh(gram)[1]
        w = vectors.sum(axis=1) / np.sqrt(len(gram))
        reflect = _normal(w)
        q[:, i:] = _reflected(q[:, i:], reflect)
        gram = _reflected(_reflected(gram, reflect).T, reflect)[1:, 1:]
    return q


def equalised_factors(left: Matrix, values: Vector, right: Matrix, r: int) -> tuple[Matrix, Matrix]:
    """U and V of r columns with UV' = left·dMat(values)·right' and ‖u_i‖² = ‖v_i‖² = Σ values / r.

    The factors left·dMat(√values) and right·dMat(√values) have the same Gram matrix, so one
    rotation equalises both (Mianjy 2018, Theorem 3.3). They are padded with zeros to r columns
    first, so that all r nodes share the weight.
    """
    u, v = (
        np.pad(side * np.sqrt(values), ((0, 0), (0, r - len(values)))) for side in (left, right)
    )
    q = equalizer(u)
    return u @ q, v @ q


def equalised(u: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
    """U and V of an equalised network with the same product UV' (Mianjy 2018, Theorem 3.3)."""
    r = u.shape[1]
    left, values, right = np.linalg.svd(u @ v.T, full_matrices=False)
    return equalised_factors(left[:, :r], values[:r], right[:r].T, r)


def _normal(w: Vector) -> Vector:
    """Unit normal of the reflection that maps the first basis vector to ±w."""
    normal = w.copy()
    normal[0] += np.copysign(1.0, w[0])  # the sign that avoids cancellation
    unit: Vector = normal / np.linalg.norm(normal)
    return unit


def _reflected(matrix: Matrix, normal: Vector) -> Matrix:
    """The matrix times the reflection with the given unit normal."""
    reflected: Matrix = matrix - np.outer(matrix @ normal, 2 * normal)
    return reflected


def universal_equalizer(r: int) -> Matrix:
    """Z (r × r, r = 2^k) for which UVZ is equalised for every U = WΣV' (Mianjy 2018, Remark 5.2).

    Z₀ = 1, Z_k = [[Z, Z], [−Z, Z]]/√2 with Z = Z_{k−1}. Z is orthogonal with entries ±1/√r, so for
    a diagonal D every diagonal entry of Z'DZ is the mean of D. The paper prints the factor
    2^{(1−k)/2} instead of 1/√2 (erratum E9).
    """
    if r < 1 or r & (r - 1):
        raise ValueError(f"universal equalisers are known for powers of two, not for {r}")
    z = np.ones((1, 1))
    while len(z) < r:
        z = np.block([[z, z], [-z, z]]) / np.sqrt(2)
    return z
