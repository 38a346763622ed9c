"""Verdicts on claims, computed from the numbers of their checks."""

from collections.abc import Sequence
from enum import StrEnum

from lindrop.claims.checks import CORRECTED, PRINTED, Check


class Verdict(StrEnum):
    """Verdicts on a claim, in the order in which summaries list them."""

    REPRODUCED = "reproduced"
    IN_SHAPE = "reproduced in shape"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    OTHERWISE = "otherwise on other data"
    NOT_RUN = "not run in this configuration"


MEANING = {
    Verdict.REPRODUCED: "holds as printed",
    Verdict.IN_SHAPE: "its orderings and trends hold on real data other than the paper's",
    Verdict.CORRECTED: "wrong as printed; its corrected form holds",
    Verdict.REFUTED: "wrong as printed; its opposite holds, or no corrected form does",
    Verdict.OTHERWISE: "its orderings or trends differ on the real data used here",
    Verdict.NOT_RUN: "needs other data, packages or sizes; the claim says what to run",
}


WRONG = (Verdict.CORRECTED, Verdict.REFUTED)


def verdict(checks: Sequence[Check], correctable: bool = True) -> Verdict:
    """Verdict on a claim from its checks.

    Checks that need no data or use the paper's data decide. Without such checks, those on other
    real data decide whether the claim holds in shape. Checks on generated data never decide, and
    with a check that is not a finite number the claim is `NOT_RUN`. `correctable` is false if the
    checks of the corrected form test the opposite of the claim: it is then refuted, not corrected.
    """
    decisive = [check for check in checks if check.data in ("none", "published")]
    if decisive:
        return _decided(decisive, correctable)
    in_shape = [check for check in checks if check.data == "other"]
    if in_shape:
        decided = _decided(in_shape, correctable)
        return _IN_SHAPE.get(decided, Verdict.OTHERWISE)
    return Verdict.NOT_RUN


_IN_SHAPE = {Verdict.REPRODUCED: Verdict.IN_SHAPE, Verdict.NOT_RUN: Verdict.NOT_RUN}


def _decided(checks: Sequence[Check], correctable: bool) -> Verdict:
    if not all(check.known for check in checks):
        return Verdict.NOT_RUN
    printed = [check.holds for check in checks if check.form == PRINTED]
    corrected = [check.holds for check in checks if check.form == CORRECTED]
    if printed and all(printed):
        return Verdict.REPRODUCED
    is_corrected = correctable and bool(corrected) and all(corrected)
    return Verdict.CORRECTED if is_corrected else Verdict.REFUTED


def strictness(check: Check) -> float:
    """Tolerance of a check, relative to the larger of 1 and the size of the expected value."""
    return check.tolerance / max(1.0, abs(check.expected))
