"""Steck 2020, Section 4.1.2: embeddings of similar features under diag(UV') = 0."""

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_most
from lindrop.models.closed_form import fit_dropout_l2
from lindrop.papers.steck2020.checks.low_rank import P, unit, zero_diagonal
from lindrop.papers.steck2020.problems import EXACT, fitted, low_rank, off, training

RANK = 6
LESS = 0.1  # of a cosine


def checks(seed: int) -> list[Check]:
    """Every check of this file, on data whose features 0 and 1 are one and the same."""
    x = fitted(np.random.default_rng(seed))
    twins = np.column_stack((x[:, 0], x[:, :-1]))
    constrained = zero_diagonal(twins, RANK).balanced()
    free = low_rank(fit_dropout_l2(training(twins), RANK, P, 0.0)).balanced()
    pairs = {
        "encoder": (constrained.encoder, free.encoder),
        "decoder": (constrained.decoder, free.decoder),
    }
    what = f"rank {RANK}, a feature and its copy: cosine in the"
    return [
        _bound(unit(constrained.encoder), unit(constrained.decoder)),
        *(
            at_most(
                "section_4_1_2_dissimilar",
                f"{what} {part}, Eq. 11 less unconstrained",
                _cosine_of_twins(with_it) - _cosine_of_twins(without),
                -LESS,
            )
            for part, (with_it, without) in pairs.items()
        ),
    ]


def _bound(u: Matrix, v: Matrix) -> Check:
    """U_j ⟂ V_j leaves cos(U_i, U_j) at most √(1 − cos²(U_i, V_j)), and the same of V."""
    room = np.sqrt(1 - np.minimum((u @ v.T) ** 2, 1))
    beyond = max(off(u @ u.T - room).max(), off(v @ v.T - room.T).max())
    what = "excess of the cosines of two features over what orthogonality leaves"
    return at_most("section_4_1_2_dissimilar", what, beyond, 0, EXACT)


def _cosine_of_twins(embeddings: Matrix) -> float:
    first, second = unit(embeddings[:2])
    return float(first @ second)
