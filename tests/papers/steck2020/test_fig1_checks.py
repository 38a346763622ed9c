"""What Steck 2020 says of Figure 1, each statement once true and once false."""

import numpy as np
import pytest

from lindrop.claims.verdicts import Verdict, verdict
from lindrop.papers.steck2020.figures.fig1_center import cosine_checks
from lindrop.papers.steck2020.figures.fig1_left import OF_CURVES, Curves, rank_checks, undecided
from support.steck2020 import AT_1000, LEFT, MSD, NETFLIX, ONE, RANKS, cosines, failing, left, of


def test_a_figure_as_in_the_paper_holds_all_that_is_said_of_it():
    for dataset in (ONE, NETFLIX):
        found = rank_checks(dataset, left(), AT_1000)
        assert failing(found) == set()
        assert {check.data for check in found} == {dataset.data}
        assert len(of("fig1_crossing", found)) == (2 if dataset is NETFLIX else 1)


def test_what_is_said_of_netflix_is_decided_on_netflix_alone():
    of_netflix, of_msd, of_other = (
        {check.claim for check in rank_checks(dataset, left(), AT_1000)}
        for dataset in (NETFLIX, MSD, ONE)
    )
    numbers = {"fig1_large_ranks", "fig1_full_rank", "fig1_values"}
    assert of_netflix - of_other == numbers
    assert of_msd == {"fig1_other_sets", "fig1_values_msd"}
    free = cosines([0.5] * 4, [0.6] * 4)
    assert {check.claim for check in cosine_checks(MSD, free, free)} == {"fig1_other_sets"}
    missing = undecided([MSD, ONE], rank_checks(ONE, left()))
    assert {check.claim for check in missing} == numbers
    assert verdict(missing) == Verdict.NOT_RUN
    assert not undecided([MSD, NETFLIX], rank_checks(NETFLIX, left()))


def test_the_notebooks_numbers_are_those_of_msd():
    changes = [("edlae", 2, 0.3194), ("zero_diagonal_l2", 2, 0.3018), ("edlae", 3, 0.3915)]
    found = of("fig1_values_msd", rank_checks(MSD, left(changes)))
    assert len(found) == 3
    assert failing(found) == set()
    assert failing(rank_checks(MSD, left(changes[1:]))) >= {"fig1_values_msd"}


def test_a_lead_that_the_users_are_too_few_to_tell_leaves_the_figure_undecided():
    """At rank 1,000 EDLAE leads Eq. 11 by .0005, half of a standard error of its mean."""
    found = of("fig1_highest", rank_checks(NETFLIX, left(lead_stderr=1e-3), AT_1000))
    assert verdict(found) == Verdict.UNDECIDED
    assert found[0].doubt == "about 6,400 test users would tell"  # 400 · (2 / 0.5)²
    found = of("fig1_highest", rank_checks(NETFLIX, left(lead_stderr=5e-4), AT_1000))
    assert [check.verdict for check in found] == ["undecided", "holds"]
    assert verdict(found) == Verdict.REPRODUCED, "in its fairest reading"


def test_a_crossing_and_a_small_rank_that_the_users_are_too_few_to_tell_decide_nothing():
    """At full rank Eq. 11 leads by half of a standard error of the difference, at rank 10 too."""
    close = [("zero_diagonal_l2", 3, 0.3705)]
    few, enough = (rank_checks(ONE, left(close, error)) for error in (1e-3, 1e-4))
    assert verdict(of("fig1_crossing", few)) == Verdict.UNDECIDED
    assert verdict(of("fig1_crossing", enough)) == Verdict.IN_SHAPE
    near = left([("zero_diagonal_l2", 0, 0.2975)], lead_stderr=1e-3)
    assert verdict(of("fig1_small_ranks", rank_checks(ONE, near))) == Verdict.UNDECIDED


def test_a_single_low_rank_is_neither_small_nor_large():
    """With one low rank, comparing small with large ranks would compare it with itself."""
    points = left()
    one = points[points["rank"].isin([RANKS[2], RANKS[-1]])]
    assert rank_checks(ONE, one) == []
    for decided, missing in (([], [*OF_CURVES]), (rank_checks(ONE, points), [])):
        open_ones = [each for each in undecided([ONE], decided) if "two low ranks" in each.what]
        assert [check.claim for check in open_ones] == missing
        assert all(verdict([check]) == Verdict.NOT_RUN for check in open_ones)
    two = rank_checks(ONE, points[points["rank"].isin([RANKS[0], RANKS[2], RANKS[-1]])])
    assert verdict(of("fig1_small_ranks", two)) == Verdict.IN_SHAPE


def test_the_highest_curve_may_be_beaten_by_less_than_an_error_charitably():
    found = of("fig1_highest", rank_checks(NETFLIX, left([("product_l2", 1, 0.3605)]), AT_1000))
    assert [check.holds for check in found] == [False, True]
    assert verdict(found) == Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("changes", "claims"),
    [
        ([("product_l2", 1, 0.362)], {"fig1_highest"}),
        ([("product_l2", 2, 0.3918)], {"fig1_crossing", "fig1_small_ranks", "fig1_values"}),
        ([("zero_diagonal_l2", 2, 0.388)], {"fig1_large_ranks"}),
        ([("edlae", 3, 0.395)], {"fig1_full_rank"}),
        ([("product_l2", 2, 0.3725)], {"fig1_values"}),
        ([("product_l2", 0, 0.27)], {"fig1_small_ranks"}),
        ([("zero_diagonal_l2", 0, 0.299)], {"fig1_small_ranks", "fig1_crossing"}),
        ([(curve, 0, 0.392) for curve in LEFT], {"fig1_capacity", "fig1_crossing"}),
        ([("zero_diagonal_l2", 3, 0.36)], {"fig1_crossing"}),
    ],
)
def test_a_figure_that_does_not(changes, claims):
    found = failing(rank_checks(NETFLIX, left(changes), AT_1000))
    assert found == claims


def test_where_curves_cross():
    at = Curves(left()).crossing
    assert 10 < at < 100  # log-linear: the lead goes from −0.048 to 0.001
    assert np.log10(at) == pytest.approx(1 + 48 / 49)
    assert Curves(left([("zero_diagonal_l2", 0, 0.31)])).crossing == 10
    assert Curves(left([("zero_diagonal_l2", 3, 0.36)])).crossing == 17_769


def test_cosines():
    free = cosines([0.5] * 4, [0.6] * 4)
    assert failing(cosine_checks(ONE, cosines([0.05, 0.2, 0.2, 0.2], [0.3] * 4), free)) == set()
    assert failing(cosine_checks(ONE, cosines([0.2] * 4, [0.3] * 4), free)) == {"fig1_orthogonal"}
    for worse in (cosines([0.05, 0.4, 0.4, 0.4], [0.3] * 4), cosines([0.05] * 4, [0.5] * 4)):
        assert failing(cosine_checks(ONE, worse, free)) == {"fig1_cosines"}
