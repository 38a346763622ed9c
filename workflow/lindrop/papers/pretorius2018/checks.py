"""All checks of Pretorius 2018 that need no figure."""

from lindrop.claims.checks import Check
from lindrop.papers.pretorius2018.decaying_paths import decaying_path_checks
from lindrop.papers.pretorius2018.fixed_points import fixed_point_checks
from lindrop.papers.pretorius2018.mappings import mapping_checks
from lindrop.papers.pretorius2018.noise import noise_checks
from lindrop.papers.pretorius2018.noise_and_decay import abstract_checks
from lindrop.papers.pretorius2018.noisy_paths import noisy_path_checks
from lindrop.papers.pretorius2018.rates import rate_checks


def all_checks(seed: int) -> list[Check]:
    parts = (
        noise_checks,
        noisy_path_checks,
        decaying_path_checks,
        rate_checks,
        fixed_point_checks,
        mapping_checks,
    )
    return [*(check for part in parts for check in part(seed)), *abstract_checks()]
