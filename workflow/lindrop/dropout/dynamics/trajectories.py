"""Trajectories of one mode in closed form, from any start (Pretorius 2018, supplement B and C).

With P = w₁ + w₂ and Q = w₁ − w₂ the flow is P' = P(λ − Nγ − (λ + ε)w), Q' = −Q(λ + Nγ − (λ + ε)w),
w = (P² − Q²)/4. So PQ = w₁² − w₂² falls as e^{−2Nγt}, and y = P² obeys the Riccati equation
y' = 2(λ − Nγ)y − (λ + ε)(y² − P²Q²)/2.

Without weight decay PQ is constant, and the solution is that of supplement B (its e^θ is |P/Q|). It
is written as sums of positive terms, which neither overflow nor cancel at any time, for any weights
including equal ones and zeros. With weight decay the paper solves Q = 0 only. For Q = 0 or P = 0
the equation is logistic; otherwise its solution has modified Bessel functions.
"""

import numpy as np
from scipy.special import kve

from lindrop.base.arrays import Vector
from lindrop.dropout.dynamics.modes import Mode, Pair, Values

TINY = 1e-290  # replaces 0 where a quotient has to stay finite
FADING = 230.0  # time in units of 1/Nγ, after which PQ has shrunk by e^{−460} and counts as 0


def trajectory(mode: Mode, w1: Values, w2: Values, t: Values) -> Pair:
    """w₁ and w₂ at times t ≥ 0 in units of τ, from the weights at time 0.

    The arguments are broadcast against each other.
    """
    first, second, t = np.broadcast_arrays(*(np.asarray(each, float) for each in (w1, w2, t)))
    plus, minus = np.asarray(first + second), np.asarray(first - second)
    if mode.decay:
        open_ = plus * minus != 0
        early = np.where(open_, np.minimum(t, FADING / mode.decay), 0)
        plus[open_], minus[open_] = _unbalanced(mode, plus[open_], minus[open_], early[open_])
        plus, minus = _balanced(mode, plus, minus, t - early)
    else:
        plus, minus = _undecayed(mode, plus, minus, t)
    return (plus + minus) / 2, (plus - minus) / 2


def _undecayed(mode: Mode, plus: Vector, minus: Vector, t: Vector) -> Pair:
    """P and Q at times t without weight decay, where PQ is constant.

    y = P² tends to the root `upper` of y'; the other root is −`lower`.
    """
    y, x = plus**2, minus**2
    rate = np.sqrt(4 * mode.lam**2 + mode.pull**2 * y * x)
    upper = (2 * mode.lam + rate) / mode.pull
    lower = y * x / upper
    left, gone = np.maximum(np.exp(-rate * t), TINY), -np.expm1(-rate * t)
    growth = np.sqrt((upper + lower * left + x * gone) / (y * gone + upper * left + lower))
    return plus * growth, minus / growth


def _balanced(mode: Mode, plus: Vector, minus: Vector, t: Vector) -> Pair:
    """P and Q at times t where one of them is 0: the other's square obeys y' = 2ry − (λ + ε)y²/2.

    r is λ − Nγ for P and −λ − Nγ for Q.
    """

    def grown(start: Vector, r: float) -> Vector:
        left = np.maximum(np.exp(-2 * abs(r) * t), TINY)
        gone = -np.expm1(-2 * abs(r) * t) / (2 * abs(r)) if r else t
        bent = mode.pull / 2 * start**2 * gone
        return np.asarray(start * np.sqrt(left / (1 + bent) if r < 0 else 1 / (left + bent)))

    return grown(plus, mode.lam - mode.decay), grown(minus, -mode.lam - mode.decay)


def _unbalanced(mode: Mode, plus: Vector, minus: Vector, t: Vector) -> Pair:
    """P and Q at times t with weight decay and PQ ≠ 0, by modified Bessel functions.

    |P/Q| = (B K_{ν+1}(z) − A I_{ν+1}(z)) / (A I_ν(z) + B K_ν(z)) with ν = (λ − Nγ)/2Nγ and
    z = (λ + ε)|PQ|/4Nγ; A and B follow from |P/Q| at time 0. Multiplied out, and with I_ν of a
    negative order written in I_{−ν} and K_ν, all terms of numerator and denominator are positive.
    They are computed relative to one term of each.
    """
    order, scale = (mode.lam - mode.decay) / (2 * mode.decay), mode.pull / (4 * mode.decay)
    product, ratio = plus * minus * np.exp(-2 * mode.decay * t), np.abs(plus / minus)
    z_0, z = (np.maximum(scale * np.abs(each), TINY) for each in (plus * minus, product))
    (i_0, k_0), (i, k) = (log_bessel(abs(order), at) for at in (z_0, z))
    (i1_0, k1_0), (i1, k1) = (log_bessel(order + 1, at) for at in (z_0, z))
    negative = np.log(2 / np.pi * np.sin(-np.pi * order)) if order < 0 else -np.inf
    above = ratio * (1 + np.exp(k_0 + i1 - i_0 - k1) + np.exp(negative + k_0 - i_0))
    above -= np.exp(i1_0 - i_0) * np.expm1(k1_0 + i1 - i1_0 - k1)
    below = np.exp(k1_0 + i - i_0 - k) + np.exp(i1_0 - i_0) + np.exp(negative + k1_0 - i_0)
    below -= ratio * np.expm1(k_0 + i - i_0 - k)
    new = np.copysign(np.sqrt(np.exp(k1 - k) * z / scale * above / below), plus)
    return new, product / new


def log_bessel(order: float, z: Vector) -> tuple[Vector, Vector]:
    """log I_ν(z) and log K_ν(z) of the order ν ≥ 0 at z > 0, also where I or K overflows.

    Uses recurrences in the order, each in the direction in which errors shrink: upwards for
    K_{k+1}/K_k, downwards for I_k/I_{k−1}. The Wronskian I_k K_{k+1} + I_{k+1} K_k = 1/z then
    gives I.
    """
    low = order % 1
    up = kve(1 - low, z) / kve(low, z) + 2 * low / z
    log_k = np.log(kve(low, z)) - z
    for k in low + np.arange(1, int(order) + 1):
        log_k = log_k + np.log(up)
        up = 2 * k / z + 1 / up
    down = np.zeros_like(up)
    for k in order + np.arange(_far_above(z), 0, -1):
        down = 1 / (2 * k / z + down)
    return -np.log(z) - log_k - np.log(up + down), log_k


def _far_above(z: Vector) -> int:
    """Number of orders above ν from which the downward recurrence may start with I_k/I_{k−1} = 0.

    The error of that start shrinks as exp(−k²/z).
    """
    return 30 + int(6 * np.sqrt(np.max(z, initial=0)))
