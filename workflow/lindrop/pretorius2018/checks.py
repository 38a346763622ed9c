"""All checks of Pretorius 2018 that need no figure."""

from lindrop.checks import Check
from lindrop.pretorius2018.fixed_points import fixed_point_checks
from lindrop.pretorius2018.noise import noise_checks
from lindrop.pretorius2018.paths import path_checks
from lindrop.pretorius2018.rates import rate_checks


def all_checks(seed: int) -> list[Check]:
    parts = (noise_checks, path_checks, rate_checks, fixed_point_checks)
    return [check for part in parts for check in part(seed)]
