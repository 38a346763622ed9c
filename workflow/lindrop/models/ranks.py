"""Selection of the configured ranks that a dataset is large enough for."""

from collections.abc import Sequence

from lindrop.base.errors import UserError
from lindrop.base.reporting import logger


def usable_ranks(ranks: Sequence[int], items: int) -> list[int]:
    """Distinct ranks below `items`, ascending; UserError if there is none.

    `items` is the largest rank that the data can have: the number of items, or of users if smaller.
    """
    usable = sorted(rank for rank in set(ranks) if rank < items)
    if not usable:
        raise UserError(
            f"the training data have rank {items} at most, and no configured rank is below "
            "that: set a smaller `rank` or `ranks`"
        )
    if len(usable) < len(set(ranks)):
        logger.info("ranks from %d on are left out: no more items or users", items)
    return usable


def rank_of_table(rank: int, usable: Sequence[int]) -> int:
    """The configured rank if it is usable, else the largest usable rank."""
    return rank if rank in usable else max(usable)
