"""Verdicts on claims, computed from the numbers of their checks."""

from collections.abc import Sequence
from enum import StrEnum

from lindrop.claims.checks import (
    CHARITABLE,
    CORRECTED,
    COUNTEREXAMPLE,
    EXTENSION,
    PRINTED,
    Check,
    Form,
)


class Verdict(StrEnum):
    """Verdicts on a claim, in the order in which summaries list them."""

    REPRODUCED = "reproduced"
    EXTENDED = "reproduced and extended"
    IN_SHAPE = "reproduced in shape"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    NOT_REPRODUCED = "not reproduced"
    OTHERWISE = "otherwise on other data"
    UNDECIDED = "undecided here"
    NOT_RUN = "not run in this configuration"


MEANING = {
    Verdict.REPRODUCED: "holds as printed, or in the fairest reading where the words allow several",
    Verdict.EXTENDED: "holds as printed, and more is true than the paper says",
    Verdict.IN_SHAPE: "its orderings and trends hold on real data other than the paper's",
    Verdict.CORRECTED: "fails as printed and in the fairest reading; its corrected form holds",
    Verdict.REFUTED: "fails as printed and in the fairest reading; a counterexample shows why",
    Verdict.NOT_REPRODUCED: "our number differs, and no reason is known",
    Verdict.OTHERWISE: "its orderings or trends differ on the real data used here",
    Verdict.UNDECIDED: "a fit is not at rest or the test users are too few; its checks say which",
    Verdict.NOT_RUN: "needs other data, packages or sizes; the claim says what to run",
}
HOLDING = (Verdict.REPRODUCED, Verdict.EXTENDED)
ACCUSING = (Verdict.CORRECTED, Verdict.REFUTED)
OPEN = (Verdict.UNDECIDED, Verdict.NOT_RUN)  # nothing was found out


def verdict(checks: Sequence[Check], accused: bool = False) -> Verdict:
    """Verdict on a claim from its checks.

    Checks that need no data or use the paper's data decide. Without such checks, those on other
    real data decide whether the claim holds in shape. Checks on generated data never decide, and
    with a check that is not a finite number the claim is `NOT_RUN`. A claim is `UNDECIDED` if its
    verdict hangs on checks with a doubt: if it would be another one with all of them holding than
    with none. `accused` says whether the claim's register quotes the paper and says why its most
    charitable reading fails: only then can a claim that fails be `CORRECTED` or `REFUTED`; without
    it, it is `NOT_REPRODUCED`.
    """
    decisive = [check for check in checks if check.data in ("none", "published")]
    if decisive:
        return _decided(decisive, accused)
    in_shape = [check for check in checks if check.data == "other"]
    decided = _decided(in_shape, accused)
    if decided in HOLDING:
        return Verdict.IN_SHAPE
    return decided if decided in OPEN else Verdict.OTHERWISE


def _decided(checks: Sequence[Check], accused: bool) -> Verdict:
    if not checks or not all(check.known for check in checks):
        return Verdict.NOT_RUN
    possible = {_if_doubtful(checks, accused, hold) for hold in (True, False)}
    return possible.pop() if len(possible) == 1 else Verdict.UNDECIDED


def _if_doubtful(checks: Sequence[Check], accused: bool, hold: bool) -> Verdict:
    """Verdict if all checks with a doubt hold, or if none of them does."""

    def all_hold(form: Form) -> bool:
        found = [hold if check.doubt else check.holds for check in checks if check.form == form]
        return bool(found) and all(found)

    if all_hold(PRINTED):
        return Verdict.EXTENDED if all_hold(EXTENSION) else Verdict.REPRODUCED
    if all_hold(CHARITABLE):
        return Verdict.REPRODUCED
    if accused and all_hold(CORRECTED):
        return Verdict.CORRECTED
    if accused and all_hold(COUNTEREXAMPLE):
        return Verdict.REFUTED
    return Verdict.NOT_REPRODUCED


def strictness(check: Check) -> float:
    """Tolerance of a check, relative to the larger of 1 and the size of the expected value."""
    return check.tolerance / max(1.0, abs(check.expected))
