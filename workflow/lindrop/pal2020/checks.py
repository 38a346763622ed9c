"""All checks of Pal 2020 that need no figure."""

from lindrop.checks import Check
from lindrop.pal2020.closed_forms import closed_form_checks
from lindrop.pal2020.dropconnect import section_4_checks
from lindrop.pal2020.schemes import scheme_checks


def all_checks(seed: int) -> list[Check]:
    return [
        check
        for part in (scheme_checks, section_4_checks, closed_form_checks)
        for check in part(seed)
    ]
