"""Which of the configured ranks a dataset has items, or users, enough for."""

from collections.abc import Sequence

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger


def usable_ranks(ranks: Sequence[int], items: int) -> list[int]:
    """The ranks below the number of items (or of users, where there are fewer)."""
    usable = sorted(rank for rank in set(ranks) if rank < items)
    if not usable:
        raise UserError(
            f"the training data have rank {items} at most, no rank is below that: set a smaller "
            "`rank` or `ranks`"
        )
    if len(usable) < len(set(ranks)):
        logger.info("ranks from %d on are left out: no more items or users", items)
    return usable


def rank_of_table(rank: int, usable: Sequence[int]) -> int:
    """The configured rank, or the largest one of the curves where the items are too few for it."""
    return rank if rank in usable else max(usable)
