"""Pal 2020: the checks of its sections can fail; wherever a function is wrong, they do."""

import numpy as np
import pytest

from lindrop.dropout.dropblock import balanced_factors
from lindrop.dropout.k_support import squared_norm_printed
from lindrop.papers.pal2020.checks import (
    capacity,
    characteristic,
    closed_forms,
    dropconnect,
    envelope,
    networks,
    operations,
    schemes,
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
    closed_forms: closed_forms.checks,
    dropconnect: dropconnect.checks,
    schemes: schemes.checks,
}


def a_tenth_more(right):
    return lambda *arguments: 1.1 * right(*arguments)


def always(value):
    return lambda right: lambda *arguments: value


def instead(mutant):
    return lambda right: mutant


def unbalanced(a, x, r, *blocks):
    u, v = balanced_factors(a, x, r, *blocks)
    scale = np.linspace(0.9, 1.1, u.shape[1] // r).repeat(r)
    return u * scale, v / scale**2


def noisier(right):
    def scheme(*arguments):
        found = right(*arguments)
        return found._replace(characteristic=1.1 * found.characteristic)

    return scheme


def dearer(right):
    def optimum(*arguments):
        found = right(*arguments)
        return found._replace(value=1.1 * found.value)

    return optimum


def square_work(a, *_):
    return np.multiply.outer(a, a).sum(axis=0)


def slowly(right):
    return lambda a, r: (square_work(a), right(a, r))[1]


def cubic_search(right):
    def search(m, r, beta):
        np.multiply.outer(np.outer(m, m), m).sum()
        return right(m, r, beta)

    return search


def shift_without_lambda(a, r, beta, rho, lam):
    return float(beta * a.sum() / (r + beta * (lam + 1) - (beta + 1) * rho + (beta + 1)))


def shifted(right):
    def minimiser(problem):
        return right(problem) + 0.1 * problem.m

    return minimiser


def transposed(right):
    def masks(coins, size):
        found, chances = right(coins, size)
        return found.reshape(-1, coins, size).transpose(0, 2, 1).reshape(found.shape), chances

    return masks


def without_window(right):
    return lambda keep, k: 1 - (1 - keep) ** (1 / k)


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
    (envelope, "flat_from", instead(lambda a, r: 2 - r), {"section_2_3_interpolation"}),
    (envelope, "conjugate_norm", instead(squared_norm_printed), {"section_2_3_k_support"}),
    (envelope, "least_bound", a_tenth_more, {"section_2_3_full_rank"}),
    (envelope, "balanced_factors", instead(unbalanced), {"equation_10", "section_2_3_k_support"}),
    (
        envelope,
        "conjugate_minimiser",
        instead(lambda problem: problem.m / (1 + problem.beta)),
        {"abstract_low_rank"},
    ),
    (
        envelope,
        "dropblock_minima",
        lambda right: lambda y, x, r, beta, *of: right(y, x, r, 0.01 * beta, *of),
        {"abstract_low_rank", "section_2_3_full_rank"},
    ),
    (capacity, "least_bound", a_tenth_more, {"section_1_nuclear_norm"}),
    (capacity, "beta_at", instead(lambda keep, r, d: r / d), {"section_1_nuclear_norm"}),
    (supplement, "REPLICAS", instead((10,)), {"equation_24"}),
    (
        supplement,
        "_replicated",
        lambda right: lambda *of: tuple(1.1 * side for side in right(*of)),
        {"equation_23", "equation_24"},
    ),
    (supplement, "least_bound", a_tenth_more, {"equation_25", "equation_50"}),
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
    (supplement, "_shift", instead(shift_without_lambda), {"equation_44"}),
    (supplement, "nnls", lambda right: lambda a, b: (b[:-1], 0.0), {"equation_44"}),
    (networks, "characteristic_of", a_tenth_more, {"section_3_sgd"}),
    (
        networks,
        "minima",
        lambda right: lambda y, d, lam, *of: right(y, d, 1.0, *of),
        {"section_3_capacity"},
    ),
    (networks, "adaptive_keep", instead(lambda keep, r, d: keep), {"section_3_dropblock"}),
    (networks, "_variances", a_tenth_more, {"equation_54", "equation_55"}),
    (
        networks,
        "overlapping_dropblock",
        lambda right: lambda d, keep, r: right(d, keep, 1),
        {"section_5_3_same_rate"},
    ),
    (characteristic, "overlapping_dropblock", noisier, {"section_3_characteristic"}),
    (operations, "rho_of", slowly, {"section_2_3_time"}),
    (operations, "threshold", instead(square_work), {"section_2_4_time"}),
    (operations, "search", cubic_search, {"section_2_4_time"}),
    (operations, "_at_rho", always(True), {"section_2_4_time"}),
    (networks, "lam_of", a_tenth_more, {"section_3_weight_decay"}),
    (networks, "mean_loss", a_tenth_more, {"section_3_weight_decay"}),
    (closed_forms, "conjugate_minimiser", shifted, {"theorem_2_7", "theorem_2_6", "e13"}),
    (closed_forms, "optimum", dearer, {"e14"}),
    (dropconnect, "mean_dropconnect_loss", a_tenth_more, {"theorem_4_1", "corollary_4_2"}),
    (dropconnect, "mean_last_layer_loss", a_tenth_more, {"section_6_equivalence"}),
    (dropconnect, "dropconnect_regulariser", a_tenth_more, {"theorem_4_1", "corollary_4_2"}),
    (
        dropconnect,
        "dropconnect_regulariser_as_printed",
        a_tenth_more,
        {"section_6_equivalence"},
    ),
    (schemes, "_kronecker_masks", transposed, {"equation_3", "lemma_2_1"}),
    (schemes, "losses_of_nodes", a_tenth_more, {"lemma_3_1"}),
    (schemes, "dropout_regulariser", a_tenth_more, {"corollary_3_2", "e16"}),
    (schemes, "seed_keep_of", instead(lambda keep, r: keep ** (1 / (r - 1))), {"e19"}),
    (schemes, "seed_keep_as_printed", without_window, {"section_5_3_rate"}),
]


@pytest.mark.parametrize(("module", "name", "mutate", "claims"), MUTANTS)
def test_a_mutant_is_seen(module, name, mutate, claims, monkeypatch):
    """Wrong where it is used, a function makes checks fail that hold."""
    for constant, small in (("PROBLEMS", 40), ("SIZES", (8, 32)), ("SEARCHED", (8, 32))):
        monkeypatch.setattr(module, constant, small, raising=False)
    before = list(PARTS[module](SEED))
    monkeypatch.setattr(module, name, mutate(getattr(module, name)))
    after = list(PARTS[module](SEED))
    newly = {
        new.claim for old, new in zip(before, after, strict=True) if old.holds and not new.holds
    }
    assert newly >= claims
