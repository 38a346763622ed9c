"""Steck 2020, Sections 3.1 and 4.1.1: closed forms of full-rank models (Eq. 5, 7, 8 and 9)."""

import numpy as np

from lindrop.base.arrays import Matrix
from lindrop.claims.checks import Check, at_least, at_most, equal, relative_distance
from lindrop.models.base import FullRankModel
from lindrop.models.closed_form import fit_dropout_l2
from lindrop.models.full_rank import fit_dlae, fit_edlae
from lindrop.papers.steck2020.problems import (
    EXACT,
    FEATURES,
    Masked,
    Quadratic,
    descended,
    enumerable,
    fitted,
    low_rank,
    noise,
    off,
    product_of,
    training,
)

P, NEARLY_NONE, NEARLY_ONE = 0.33, 1e-12, 1 - 1e-9
BEFORE = 0.1, 0.3, 0.5, 0.7, 0.9, 0.99  # dropout probabilities before the limit
NOT_NIL = 1e-6  # least diagonal entry that has not vanished, as in the limit
SEEN = 0.01  # least distance that counts as a difference
LOW, STARTS = (1, 2, 4), 2  # ranks at which closed forms meet L-BFGS, and its random starts
DESCENT = 1e-6  # relative error of a loss after a descent


def checks(seed: int) -> list[Check]:
    """Checks of Eq. 5, 7 and 8, of the identity as a minimiser, and of footnote 2."""
    small, large, starts = np.random.default_rng(seed).spawn(3)
    tiny, x = enumerable(small), fitted(large)
    return [
        *_equation_5(tiny, x),
        *_identity_checks(tiny, x),
        *_low_rank_identity(x, starts),
        *_footnote_2(x, starts),
        *_equation_8(x),
        *_best_prediction(x),
        *_comparison_checks(x),
    ]


def dlae(x: Matrix, p: float) -> Matrix:
    """Full-rank DLAE (Eq. 5), computed by the library."""
    model = fit_dlae(training(x), p, 0.0).model
    assert isinstance(model, FullRankModel)
    return model.matrix


def edlae(x: Matrix, p: float) -> Matrix:
    """Full-rank EDLAE (Eq. 8), computed by the library."""
    model = fit_edlae(training(x), p, 0.0).model
    assert isinstance(model, FullRankModel)
    return model.matrix


def regressions(x: Matrix, p: float) -> Matrix:
    """Solution of Eq. 7 by the ridge regression of each feature on all the others."""
    gram, count = x.T @ x, x.shape[1]
    regularised, best = gram + np.diag(noise(x, p)), np.zeros((count, count))
    for i in range(count):
        others = np.flatnonzero(np.arange(count) != i)
        best[others, i] = np.linalg.solve(regularised[np.ix_(others, others)], gram[others, i])
    return best


def _equation_5(tiny: Matrix, x: Matrix) -> list[Check]:
    gram, penalty, b = x.T @ x, np.diag(noise(x, P)), dlae(x, P)
    ridge = np.linalg.solve(gram + penalty, gram)
    rest = np.eye(len(gram)) - np.linalg.solve(gram + penalty, penalty)
    slope = _largest(Quadratic(gram, np.diag(penalty)).slope(b)) / _largest(gram)
    enumerated = relative_distance(dlae(tiny, P), Masked(tiny, P).minimiser(1, 1))
    what = "full-rank DLAE: relative"
    return [
        equal("equation_5", f"{what} distance to CX'X", relative_distance(b, ridge), 0, EXACT),
        equal("equation_5", f"{what} distance to I − CΛ", relative_distance(b, rest), 0, EXACT),
        equal("equation_5", f"{what} slope of Eq. 3", slope, 0, EXACT),
        equal("equation_5", f"{what} distance to the best over every mask", enumerated, 0, EXACT),
    ]


def _identity_checks(tiny: Matrix, x: Matrix) -> list[Check]:
    """Checks of Section 3.1: full-rank DLAE is the identity without dropout, not with it.

    At p = 0 the closed form multiplies C by zero, so it is taken just above.
    """
    model, least = "full-rank DLAE", f"p = {NEARLY_NONE:g}:"
    unregularised = _largest(Masked(tiny, 0.0).minimiser(1, 1) - np.eye(tiny.shape[1]))
    hardly = _largest(dlae(x, NEARLY_NONE) - np.eye(FEATURES))
    beside = _largest(off(dlae(x, P)))
    own = np.diag(dlae(x, P)).min()
    last = _largest(np.diag(dlae(x, NEARLY_ONE)))
    before = min(np.diag(dlae(x, p)).min() for p in BEFORE)
    sweep = f"p from {BEFORE[0]:g} to {BEFORE[-1]:g}"
    return [
        equal("section_3_1_identity", "least squares of X on X less I", unregularised, 0, EXACT),
        equal("section_3_1_identity", f"{least} {model} less I", hardly, 0, EXACT),
        at_least("section_3_1_off_diagonal", f"{model}: largest entry off it", beside, SEEN),
        at_least("section_3_1_diagonal", f"{model}: smallest entry on the diagonal", own, SEEN),
        at_least("section_3_1_limit", f"{model}: least diagonal entry, {sweep}", before, NOT_NIL),
        equal("section_3_1_limit", f"{model}: largest of them, p = 1 − 1e-9", last, 0, 1e-6),
    ]


def _low_rank_identity(x: Matrix, rng: np.random.Generator) -> list[Check]:
    """Checks of Section 6: how near L-BFGS comes to I at rank k, and what it makes of X.

    Of ‖I‖² it must miss the share 1 − k/m, with m features. Without a penalty the best B for X is a
    projection on k dimensions, whose mean diagonal entry is k/m.
    """
    claim, nothing = "section_6_identity", np.zeros(FEATURES)
    identity, gram = Quadratic(np.eye(FEATURES), nothing), x.T @ x
    missed, own = [], []
    for rank in LOW:
        near = descended(identity, rank, STARTS, rng)
        missed.append(identity.value(product_of(near)) / FEATURES - (1 - rank / FEATURES))
        of_x = product_of(descended(Quadratic(gram, nothing), rank, STARTS, rng))
        own.append(np.diag(of_x).mean() - rank / FEATURES)
    what = f"ranks k = {', '.join(map(str, LOW))} of m = {FEATURES}, L-BFGS:"
    of_identity = f"{what} share of ‖I‖² that is missed, less 1 − k/m, farthest"
    of_models = f"{what} mean diagonal entry of the best B without a penalty, less k/m, farthest"
    return [
        equal(claim, of_identity, _largest(np.array(missed)), 0, DESCENT),
        equal(claim, of_models, _largest(np.array(own)), 0, DESCENT),
    ]


def _footnote_2(x: Matrix, rng: np.random.Generator) -> list[Check]:
    """Checks of footnote 2: the best DLAE by rank, up to that of full rank.

    At low ranks the closed form is compared with L-BFGS.
    """
    whole = low_rank(fit_dropout_l2(training(x), FEATURES, P, 0.0))
    models = [whole.truncated(rank) for rank in range(1, FEATURES + 1)]
    loss, full = Quadratic(x.T @ x, noise(x, P)), dlae(x, P)
    products = [product_of(model) for model in models]
    losses = np.array([loss.value(product) for product in products])
    descents = [loss.value(product_of(descended(loss, rank, STARTS, rng))) for rank in LOW]
    beside = losses[np.array(LOW) - 1] / np.array(descents) - 1
    excess = losses / loss.value(full) - 1
    rise, last = np.diff(losses).max(), relative_distance(products[-1], full)
    what = "least Eq. 3 of a low rank:"
    return [
        equal("footnote_2", f"{what} beside L-BFGS, farthest", _largest(beside), 0, DESCENT),
        at_most("footnote_2", f"{what} largest rise with the rank", rise, 0, EXACT),
        equal("footnote_2", f"{what} relative excess at the largest rank", excess[-1], 0, EXACT),
        equal("footnote_2", "distance of the models at the largest rank", last, 0, EXACT),
    ]


def _equation_8(x: Matrix) -> list[Check]:
    b, loss = edlae(x, P), Quadratic(x.T @ x, noise(x, P))
    slope = _largest(off(loss.slope(b))) / _largest(loss.gram)
    distance, c = relative_distance(b, regressions(x, P)), np.linalg.inv(loss.h)
    printed = relative_distance(np.eye(FEATURES) - c / np.diag(c), regressions(x, P))
    what = "full-rank EDLAE:"
    with_others = "I − C dMat(1 ⊘ diag C): distance to the regressions on others"
    return [
        equal("equation_8", with_others, printed, 0, EXACT),
        equal("equation_8", f"{what} relative slope of Eq. 7 off the diagonal", slope, 0, EXACT),
        equal("equation_8", f"{what} distance to the regressions on others", distance, 0, EXACT),
    ]


def _best_prediction(x: Matrix) -> list[Check]:
    """Checks that zeroing the diagonal of Eq. 5 differs from Eq. 8 and predicts worse."""
    claim, without, b = "section_4_1_1_best", off(dlae(x, P)), edlae(x, P)
    loss = Quadratic(x.T @ x, noise(x, P))
    what = "full-rank EDLAE against DLAE without its diagonal:"
    share = loss.value(b) / loss.value(without)
    return [
        at_least(claim, f"{what} relative distance", relative_distance(b, without), SEEN),
        at_most(claim, f"{what} ratio of Eq. 7", share, 1 - SEEN),
    ]


def _comparison_checks(x: Matrix) -> list[Check]:
    """Checks of Section 4.1.1: Eq. 5 and Eq. 8 are both of the form I − C dMat(·)."""
    claim, c = "section_4_1_1_comparison", np.linalg.inv(x.T @ x + np.diag(noise(x, P)))
    identity = np.eye(FEATURES)
    distances = {
        "DLAE, Λ": dlae(x, P) - identity + c * noise(x, P),
        "EDLAE, 1 ⊘ diag(C)": edlae(x, P) - identity + c / np.diag(c),
    }
    nearly = np.linalg.inv(x.T @ x + np.diag(noise(x, NEARLY_ONE)))
    apart = _largest(noise(x, NEARLY_ONE) * np.diag(nearly) - 1)
    limit = "p = 1 − 1e-9: relative difference of the two diagonals"
    return [
        *(
            equal(claim, f"{name}: distance to I − C dMat(·)", _largest(distance), 0, EXACT)
            for name, distance in distances.items()
        ),
        equal("section_4_1_1_limit_p", limit, apart, 0, 1e-6),
    ]


def _largest(values: Matrix) -> float:
    return float(np.abs(values).max())
