"""Pal 2020: the checks of its sections can fail; wherever a function is wrong, they do."""

import numpy as np
import pytest

from lindrop.dropout.dropblock import balanced_factors
from lindrop.dropout.k_support import squared_norm_printed
from lindrop.dropout.objective import lam_of
from lindrop.papers.pal2020.checks import (
    capacity,
    characteristic,
    envelope,
    networks,
    operations,
    supplement,
)

SEED = 2
PARTS = {
    capacity: capacity.checks,
    envelope: envelope.checks,
    supplement: supplement.checks,
    networks: networks.checks,
    characteristic: characteristic.checks,
    operations: operations.checks,
}


def a_tenth_more(right):
    return lambda *arguments: 1.1 * right(*arguments)


def always(value):
    return lambda right: lambda *arguments: value


def instead(mutant):
    return lambda right: mutant


def unbalanced(a, x, r):
    u, v = balanced_factors(a, x, r)
    scale = np.linspace(0.9, 1.1, u.shape[1] // r).repeat(r)
    return u * scale, v / scale**2


def noisier(right):
    def scheme(*arguments):
        found = right(*arguments)
        return found._replace(characteristic=1.1 * found.characteristic)

    return scheme


def square_work(a, *_):
    return np.multiply.outer(a, a).sum(axis=0)


def cubic_work(a, *_):
    return np.multiply.outer(a, square_work(a)).sum() + np.multiply.outer(np.outer(a, a), a).sum()


MUTANTS = [
    (capacity, "omega", a_tenth_more, {"section_2_1_dropout"}),
    (capacity, "omega", always(1.0), {"lemma_2_2", "section_2_2_dropout"}),
    (capacity, "omega", always(1e-9), {"section_2_2_positive"}),
    (capacity, "dropout_regulariser", a_tenth_more, {"equation_2"}),
    (
        capacity,
        "dropblock",
        lambda right: lambda d, keep, r: right(d, keep, 2),
        {"section_2_dropout", "equation_2"},
    ),
    (capacity, "importance", always(np.arange(3.0)), {"section_1_balance"}),
    (capacity, "adaptive_keep", instead(lambda keep, r, d: keep), {"section_2_2_capacity"}),
    (envelope, "objective", lambda right: lambda *of: 0.9 * right(*of), {"equation_10"}),
    (envelope, "objective", lambda right: lambda *of: 0.9 * right(*of), {"equation_12"}),
    (envelope, "spectral_regulariser", a_tenth_more, {"equation_10"}),
    (envelope, "NOISE", instead(0.0), {"section_2_3_full_rank"}),
    (
        envelope,
        "conjugate_norm",
        a_tenth_more,
        {"equation_12", "section_2_3_interpolation"},
    ),
    (
        envelope,
        "conjugate_norm",
        instead(lambda a, k: max(a @ a, a.sum() ** 2 / k)),
        {"section_2_3_elastic_net"},
    ),
    (envelope, "conjugate_norm", instead(lambda a, k: a.max() ** 2), {"section_2_3_elastic_net"}),
    (envelope, "rho_of", instead(lambda a, r: 2 - r), {"section_2_3_interpolation"}),
    (envelope, "squared_norm", instead(squared_norm_printed), {"section_2_3_k_support"}),
    (envelope, "balanced_factors", instead(unbalanced), {"equation_10", "section_2_3_k_support"}),
    (envelope, "prox", instead(lambda m, r, beta: m / (1 + beta)), {"abstract_low_rank"}),
    (supplement, "REPLICAS", instead((10,)), {"equation_24"}),
    (
        supplement,
        "_replicated",
        lambda right: lambda *of: tuple(1.1 * side for side in right(*of)),
        {"equation_23", "equation_24"},
    ),
    (
        supplement,
        "conjugate_minimiser",
        instead(lambda problem: problem.m / 2),
        {"equation_25"},
    ),
    (
        supplement,
        "dropblock",
        lambda right: lambda d, keep, r: right(d, 0.4, r),
        {"equation_29"},
    ),
    (
        supplement,
        "conjugate_point",
        lambda right: lambda a, r: np.linspace(1.0, 1.1, max(len(a), r)) * right(a, r),
        {"equation_36"},
    ),
    (supplement, "conjugate_norm", a_tenth_more, {"equation_37"}),
    (supplement, "_shift", a_tenth_more, {"equation_44"}),
    (
        supplement,
        "optimum",
        lambda right: lambda y, r, beta: right(y, r, 2 * beta),
        {"equation_50"},
    ),
    (networks, "characteristic_of", a_tenth_more, {"section_3_sgd"}),
    (
        networks,
        "minima",
        lambda right: lambda y, d, lam, *of: right(y, d, 1.0, *of),
        {"section_3_capacity"},
    ),
    (networks, "beta_at", instead(lambda keep, r, d: lam_of(keep)), {"section_3_dropblock"}),
    (networks, "_variances", a_tenth_more, {"equation_54", "equation_55"}),
    (
        networks,
        "overlapping_dropblock",
        lambda right: lambda d, keep, r: right(d, keep, 1),
        {"section_5_3_same_rate"},
    ),
    (characteristic, "overlapping_dropblock", noisier, {"section_3_characteristic"}),
    (operations, "rho_of", instead(square_work), {"section_2_3_time"}),
    (operations, "threshold", instead(cubic_work), {"section_2_4_time"}),
]


@pytest.mark.parametrize(("module", "name", "mutate", "claims"), MUTANTS)
def test_a_mutant_is_seen(module, name, mutate, claims, monkeypatch):
    """Wrong where it is used, a function makes checks fail that hold."""
    for constant, small in (("PROBLEMS", 40), ("SIZES", (8, 32))):
        monkeypatch.setattr(module, constant, small, raising=False)
    before = list(PARTS[module](SEED))
    monkeypatch.setattr(module, name, mutate(getattr(module, name)))
    after = list(PARTS[module](SEED))
    newly = {
        new.claim for old, new in zip(before, after, strict=True) if old.holds and not new.holds
    }
    assert newly >= claims
