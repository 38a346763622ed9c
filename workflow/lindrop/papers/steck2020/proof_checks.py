"""Steck 2020, supplement, Section 2: the proof of the theorem, line by line, over every mask."""

import numpy as np

from lindrop.claims.checks import CORRECTED, Check, equal, relative_distance
from lindrop.papers.steck2020.problems import EXACT, ITEMS, enumerable, equation_6, ratio
from lindrop.papers.steck2020.proof import A, B, Lines, P, Q


def proof_checks(seed: int) -> list[Check]:
    """Every check of this file."""
    data, weights = np.random.default_rng(seed).spawn(2)
    x, matrix = enumerable(data), weights.normal(size=(ITEMS, ITEMS))
    lines = Lines(x, matrix)
    return [
        *_overview_checks(lines),
        *_lambda_checks(lines),
        *_split_checks(lines),
        *_dropped_checks(lines),
        *_kept_checks(lines),
    ]


def _overview_checks(lines: Lines) -> list[Check]:
    start = lines.masked.loss(lines.raw, A, B)
    values = {
        "5": lines.line_5(),
        "6": lines.line_6(),
        "7": lines.line_7(),
        "8": (A * P + B * Q) * equation_6(lines.x, lines.edlae, P, A, B),
    }
    return [
        equal("supplement_equations_2_to_8", f"line {line} over line 2", value / start, 1, EXACT)
        for line, value in values.items()
    ]


def _lambda_checks(lines: Lines) -> list[Check]:
    claim, what = (
        "supplement_2_lambda",
        "relative distance to dropout's penalty, of diag(X'X) times",
    )
    diagonal, units = np.diag(lines.gram), np.eye(ITEMS)
    added = [  # by a single weight at (i, 0)
        lines.masked.loss(np.outer(unit, units[0]) / Q, 1, 1)
        - np.sum((lines.x - np.outer(lines.x @ unit, units[0])) ** 2)
        for unit in units
    ]
    printed, corrected = (
        relative_distance(factor * diagonal, np.array(added)) for factor in (P, ratio(P))
    )
    return [
        equal(claim, f"{what} p", printed, 0, EXACT),
        equal(claim, f"{what} p/q", corrected, 0, EXACT, CORRECTED),
    ]


def _split_checks(lines: Lines) -> list[Check]:
    """Line 4 names column i of Z, which does not fit B_i: it is read as times B_ii."""
    sizes = [lines.part(i, False).share / lines.part(i, True).share for i in range(ITEMS)]
    start, claim = lines.masked.loss(lines.raw, A, B), "supplement_equation_4"
    alone, whole = (lines.line_4(raw) / start for raw in (np.diag(np.diag(lines.raw)), lines.raw))
    return [
        equal("supplement_2_1", "ratio of the two sets' sizes", max(sizes), ratio(P), EXACT),
        equal(claim, "line 4 over line 2, with column i of Z alone", alone, 1, EXACT),
        equal(claim, "line 4 over line 2, with all of Z", whole, 1, EXACT, CORRECTED),
    ]


def _dropped_checks(lines: Lines) -> list[Check]:
    """Section 2.2."""
    first_errors, second_errors, values, shifts = [], [], [], []
    for i in range(ITEMS):
        part, others = lines.part(i, False), np.arange(ITEMS) != i
        first, second = (of[..., others] for of in part.moments(np.ones(ITEMS)))
        gram = lines.gram[np.ix_(others, others)]
        claimed = P * Q**2 * (gram + np.diag(lines.noise[others]))
        first_errors.append(relative_distance(first, P * Q * lines.gram[i, others]))
        second_errors.append(relative_distance(second[others], claimed))
        values.append(part.loss(lines.raw[:, i]) / (P * lines.dropped(i)))
        shifted = lines.raw[:, i] + 10 * np.eye(ITEMS)[i]
        shifts.append(part.loss(shifted) / part.loss(lines.raw[:, i]))
    moment = "relative distance of the moment of Z to its limit:"
    return [
        equal("supplement_2_2", f"{moment} X_i'Z", max(first_errors), 0, EXACT),
        equal("supplement_equation_16", f"{moment} Z'Z", max(second_errors), 0, EXACT),
        equal("supplement_equations_9_to_15", "line 9 over line 15", _far(values), 1, EXACT),
        equal(
            "supplement_2_2_diagonal", "part (a) after B_ii + 10, relative", _far(shifts), 1, EXACT
        ),
    ]


def _kept_checks(lines: Lines) -> list[Check]:
    """Section 2.3: Q scales column i, which is never dropped here, by q."""
    first_errors, second_errors, values, dropped = [], [], [], []
    masks, _ = lines.masked.outcomes
    for i in range(ITEMS):
        part, here = lines.part(i, True), np.arange(ITEMS) == i
        first, second = part.moments(np.where(here, Q, 1))
        claimed = Q**3 * (lines.gram + np.diag(np.where(here, 0, lines.noise)))
        first_errors.append(relative_distance(first, Q**2 * lines.gram[i]))
        second_errors.append(relative_distance(second, claimed))
        values.append(part.loss(lines.raw[:, i]) / (Q * lines.kept(i)))
        dropped.append(part.weights @ ~masks[:, i - 1] / part.share)
    moment = "relative distance of the moment of ZQ to its limit:"
    probability, claim = "probability that another entry is dropped", "supplement_2_3_probability"
    return [
        equal("supplement_2_3", f"{moment} X_i'ZQ", max(first_errors), 0, EXACT),
        equal("supplement_2_3", f"{moment} QZ'ZQ", max(second_errors), 0, EXACT),
        equal("supplement_equations_17_to_25", "line 17 over line 25", _far(values), 1, EXACT),
        equal(claim, f"{probability}: q", max(dropped), Q, EXACT),
        equal(claim, f"{probability}: p", max(dropped), P, EXACT, CORRECTED),
    ]


def _far(ratios: list[float]) -> float:
    """The one farthest from 1."""
    return max(ratios, key=lambda found: abs(found - 1))
