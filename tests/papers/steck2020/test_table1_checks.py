"""What Steck 2020 says of Table 1, each statement once true and once false."""

import numpy as np
import pytest

from lindrop.claims.verdicts import Verdict, verdict
from lindrop.papers.steck2020.figures.fig1_left import rank_checks
from lindrop.papers.steck2020.section_6 import ROWS
from support.steck2020 import AT_1000, NETFLIX, ONE, accuracy, failing, left, of


def test_a_table_as_printed_holds_all_that_is_said_of_it():
    assert failing(accuracy()) == set()


@pytest.mark.parametrize(
    ("changes", "claims"),
    [
        ({"edlae": 0.390}, {"table1"}),
        ({"edlae": 0.382}, {"table1"}),
        ({"weight_decay": 0.366}, {"table1", "table1_row_1", "table1_row_2"}),
        ({"sampled_dropout": 0.360}, {"table1", "table1_row_1", "table1_row_4"}),
        ({"sampled_dropout": 0.3862}, {"table1", "table1_row_4"}),
        ({"product_l2": 0.380}, {"table1", "table1_row_3"}),
        ({"edlae": 0.375}, {"table1", "table1_competitive"}),
        (dict.fromkeys(ROWS, 0.40), {"table1", "table1_row_1", "table1_row_2", "table1_row_3",
                                      "table1_regularisation"}),
    ],
)  # fmt: skip
def test_a_table_that_does_not(changes, claims):
    assert failing(accuracy(changes)) == claims


def test_a_gain_within_the_paired_error_is_none():
    assert failing(accuracy(gain=-0.01)) == {"table1_row_5"}
    assert verdict(of("table1_row_5", accuracy(gain=-0.01))) == Verdict.NOT_REPRODUCED
    assert verdict(of("table1_row_5", accuracy())) == Verdict.REPRODUCED
    for gain in (0.0005, -0.0005):
        found = of("table1_row_5", accuracy(gain=gain))
        open_checks = [check for check in found if check.doubt]
        if gain > 0:
            assert verdict(found) == Verdict.UNDECIDED
        assert len(open_checks) == 4  # over rows 3 and 4, by nDCG@100 and by the least metric
        for check in open_checks[::2]:
            # an error of .01 / √200 with 200 users is half of .0005 with 1,600 of them
            assert check.needed_users == pytest.approx(1_600, rel=0.15)
            assert (check.users, check.stderr) == (200, pytest.approx(0.01 / 200**0.5, rel=0.1))


@pytest.mark.parametrize(
    ("model", "claims"),
    [
        ("edlae", {"table1", "table1_row_5", "table1_competitive", "table1_regularisation"}),
        ("sampled_dropout", {"table1", "table1_row_4", "table1_row_5", "table1_regularisation"}),
        ("weight_decay", {"table1", "table1_row_1", "table1_row_2", "table1_regularisation"}),
    ],
)  # fmt: skip
def test_no_claim_is_decided_by_a_fit_that_is_not_at_rest(model, claims):
    found = accuracy(restless=[model])
    open_claims = {check.claim for check in found if not check.at_rest}
    assert open_claims == claims
    for claim in {check.claim for check in found}:
        expected = Verdict.UNDECIDED if claim in claims else Verdict.REPRODUCED
        assert verdict(of(claim, found)) == expected
    curves = left()
    assert {check.verdict for check in rank_checks(NETFLIX, curves, AT_1000)} == {"holds"}
    curves.loc[0, "converged"] = False
    assert {check.verdict for check in rank_checks(NETFLIX, curves, AT_1000)} == {"undecided"}


@pytest.mark.parametrize("stderr", [0.0, 0.002, 0.003])
def test_another_standard_error_than_the_printed(stderr):
    assert "table1_errors" in failing(accuracy(stderr=stderr))


def test_on_other_data_the_order_counts_and_printed_numbers_do_not():
    found = accuracy(dataset=ONE)
    printed = {"table1_errors", "table1_competitive", "table1_regularisation"}
    assert all(np.isnan(check.computed) for claim in printed for check in of(claim, found))
    assert verdict(of("table1_errors", found)) == Verdict.NOT_RUN
    assert verdict(of("table1", found)) == Verdict.IN_SHAPE
    reversed_order = accuracy({"edlae": 0.38}, dataset=ONE)
    assert verdict(of("table1", reversed_order)) == Verdict.OTHERWISE
