"""From the checks of a claim to its verdict: numbers decide, nobody types one in."""

from collections.abc import Sequence
from enum import StrEnum

from lindrop.claims.checks import CORRECTED, PRINTED, Check


class Verdict(StrEnum):
    """In the order in which a summary counts them."""

    REPRODUCED = "reproduced"
    IN_SHAPE = "reproduced in shape"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    OTHERWISE = "otherwise on other data"
    NOT_RUN = "not run in this configuration"


MEANING = {
    Verdict.REPRODUCED: "holds as printed",
    Verdict.IN_SHAPE: "its orderings and trends hold on real data other than the paper's",
    Verdict.CORRECTED: "wrong as printed, right in the corrected form beside it",
    Verdict.REFUTED: "wrong as printed: what is so instead denies it, or nothing mends it",
    Verdict.OTHERWISE: "its orderings or trends are not those of the real data used here",
    Verdict.NOT_RUN: "needs other data, packages or sizes; each says what to run",
}


WRONG = (Verdict.CORRECTED, Verdict.REFUTED)


def verdict(checks: Sequence[Check], mendable: bool = True) -> Verdict:
    """What needs no data, or the paper's own, decides; other real data can tell the shape alone.

    Generated data in the place of real data decide nothing, nor does what is not a number yet. A
    claim is not `mendable` if what was checked as its corrected form is the opposite of it.
    """
    decisive = [check for check in checks if check.data in ("none", "published")]
    if decisive:
        return _decided(decisive, mendable)
    in_shape = [check for check in checks if check.data == "other"]
    if in_shape:
        decided = _decided(in_shape, mendable)
        return _IN_SHAPE.get(decided, Verdict.OTHERWISE)
    return Verdict.NOT_RUN


_IN_SHAPE = {Verdict.REPRODUCED: Verdict.IN_SHAPE, Verdict.NOT_RUN: Verdict.NOT_RUN}


def _decided(checks: Sequence[Check], mendable: bool) -> Verdict:
    if not all(check.known for check in checks):
        return Verdict.NOT_RUN
    printed = [check.holds for check in checks if check.form == PRINTED]
    corrected = [check.holds for check in checks if check.form == CORRECTED]
    if printed and all(printed):
        return Verdict.REPRODUCED
    mended = mendable and bool(corrected) and all(corrected)
    return Verdict.CORRECTED if mended else Verdict.REFUTED


def strictness(check: Check) -> float:
    """Its tolerance, relative to the larger of 1 and the expected value."""
    return check.tolerance / max(1.0, abs(check.expected))
