"""Rates α/N of gradient descent: 1 over a curvature (Pretorius 2018, supplement D).

On a balanced path, w₁ = w₂ = √w, the eigenvalues of the Hessian are 3(λ + ε)w + Nγ − λ along the
path and λ + Nγ − (λ + ε)w across it.
"""

from lindrop.dropout.dynamics.modes import Mode


def curvature_printed(mode: Mode) -> float:
    """That along the path at w = 1: 2λ + 3ε of a DAE, 2λ + Nγ of a WDAE (E22).

    Only a plain autoencoder comes near w = 1: paths from a small start end at w* < 1.
    """
    return 2 * mode.lam + 3 * mode.eps + mode.decay


def curvature_of_path(mode: Mode) -> float:
    """The largest along the path, at its end w*: 2λ of a DAE, 2(λ − Nγ) of a WDAE."""
    return 2 * (mode.lam - mode.decay)


def largest_curvature(mode: Mode) -> float:
    """In any direction, up to w*: across the path of a WDAE it is λ + Nγ at the start."""
    return max(curvature_of_path(mode), mode.lam + mode.decay)
