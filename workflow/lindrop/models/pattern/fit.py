"""Full-rank EDLAE restricted to k neighbours per item: sparse_edlae, and with p = 0 sparse_ease.

With k = items - 1 the model is the full-rank EDLAE. `solver` solves any columns of it.
"""

from lindrop.models.base import Fit, SparseItems, Training
from lindrop.models.pattern.rows import joined
from lindrop.models.pattern.solver import USER_CAP, Solver


def fit_sparse_edlae(
    data: Training,
    neighbours: float,
    p: float,
    ridge: float,
    user_cap: float = USER_CAP,
    spread: float = 0.0,
) -> Fit:
    """Fit B with `neighbours` weights per column: ‖X - XB‖² + ‖Λ̃^½ B‖² is least on this pattern.

    An item whose users have no other item gets an empty column. Neighbours are chosen from a sample
    of at most `user_cap` items of each user. With `spread` above 0, `neighbours` is a mean: the
    number of an item's neighbours grows as this power of its number of users.
    """
    parts = Solver(data, neighbours, p, ridge, user_cap, spread).parts(range(data.items))
    return Fit(joined(parts))  # X' is freed before the parts are joined


def fit_columns(data: Training, items: range, **options: float) -> SparseItems:
    """Columns of the B of `fit_sparse_edlae` for a range of items; all others are empty."""
    return joined(Solver(data, **options).parts(items))
