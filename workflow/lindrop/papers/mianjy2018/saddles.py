"""Whether critical points are strict saddles (Mianjy 2018, Definition 4.2), as checks."""

from collections.abc import Iterable

from lindrop.claims.checks import PRINTED, Check, Form, at_least, at_most

SAME = 1e-9  # the difference of equal values
STRICT = 1e-6  # an eigenvalue that far below zero makes a saddle strict


def strict_saddles(claim: str, what: str, least: Iterable[float], form: Form = PRINTED) -> Check:
    """Every Hessian has a negative eigenvalue."""
    return at_most(claim, f"{what}: largest λ_min(∇²f)", max(least), -STRICT, form=form)


def no_saddles(claim: str, what: str, least: Iterable[float], form: Form = PRINTED) -> Check:
    """No Hessian has one."""
    return at_least(claim, f"{what}: smallest λ_min(∇²f)", min(least), 0, 1e-8, form)
