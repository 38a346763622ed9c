"""Optimal rates α/N of gradient descent, as curvatures whose inverses they are (supplement D).

Pretorius 2018 derives them from the Hessian of one mode. On a balanced path, w₁ = w₂ = √w, its
eigenvalues are 3(λ + ε)w + Nγ − λ along the path and λ + Nγ − (λ + ε)w across it.
"""

from lindrop.dropout.dynamics.modes import Mode


def curvature_printed(mode: Mode) -> float:
    """Curvature along the path at w = 1, as printed: 2λ + 3ε for a DAE, 2λ + Nγ for a WDAE (E22).

    Only a plain autoencoder reaches w = 1; with noise or weight decay, paths end at w* < 1.
    """
    return 2 * mode.lam + 3 * mode.eps + mode.decay


def curvature_of_path(mode: Mode) -> float:
    """Largest curvature along the path, at its end w*: 2λ for a DAE, 2(λ − Nγ) for a WDAE."""
    return 2 * (mode.lam - mode.decay)


def largest_curvature(mode: Mode) -> float:
    """Largest curvature in any direction on the path up to w*.

    Across the path it is largest at the start, with λ + Nγ.
    """
    return max(curvature_of_path(mode), mode.lam + mode.decay)
