"""All checks of Steck 2020 that need no data."""

from lindrop.claims.checks import Check
from lindrop.papers.steck2020.admm_checks import admm_checks
from lindrop.papers.steck2020.alternation_checks import alternation_checks
from lindrop.papers.steck2020.emphasis_checks import emphasis_checks
from lindrop.papers.steck2020.fraction_checks import fraction_checks
from lindrop.papers.steck2020.full_rank_checks import full_rank_checks
from lindrop.papers.steck2020.lagrangian_checks import lagrangian_checks
from lindrop.papers.steck2020.layer_checks import layer_checks
from lindrop.papers.steck2020.low_rank_checks import low_rank_checks
from lindrop.papers.steck2020.penalty_checks import penalty_checks
from lindrop.papers.steck2020.proof_checks import proof_checks
from lindrop.papers.steck2020.theorem_checks import theorem_checks
from lindrop.papers.steck2020.twin_checks import twin_checks


def all_checks(seed: int) -> list[Check]:
    parts = (
        theorem_checks,
        full_rank_checks,
        penalty_checks,
        emphasis_checks,
        low_rank_checks,
        twin_checks,
        proof_checks,
        lagrangian_checks,
        admm_checks,
        alternation_checks,
        layer_checks,
    )
    return [*fraction_checks(), *(check for part in parts for check in part(seed))]
