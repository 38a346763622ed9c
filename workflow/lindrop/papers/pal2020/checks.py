"""All checks of Pal 2020 that need no figure."""

from lindrop.claims.checks import Check
from lindrop.papers.pal2020.capacity import capacity_checks
from lindrop.papers.pal2020.characteristic import characteristic_checks
from lindrop.papers.pal2020.closed_forms import closed_form_checks
from lindrop.papers.pal2020.dropconnect import section_4_checks
from lindrop.papers.pal2020.envelope import envelope_checks
from lindrop.papers.pal2020.networks import network_checks
from lindrop.papers.pal2020.operations import operation_checks
from lindrop.papers.pal2020.schemes import scheme_checks
from lindrop.papers.pal2020.supplement import supplement_checks

PARTS = (
    capacity_checks,
    scheme_checks,
    section_4_checks,
    closed_form_checks,
    envelope_checks,
    supplement_checks,
    network_checks,
    characteristic_checks,
    operation_checks,
)


def all_checks(seed: int) -> list[Check]:
    return [check for part in PARTS for check in part(seed)]
