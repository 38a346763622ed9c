"""Every model by name: what it is called, where the paper has it, how it is fitted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory, solver_bytes
from lindrop.base.reporting import logger
from lindrop.models.base import Fit, LowRank, Training
from lindrop.models.closed_form import fit_dropout_l2, fit_product_l2, fit_weight_decay
from lindrop.models.edlae.fit import fit_edlae, fit_zero_diagonal
from lindrop.models.full_rank import fit_dlae
from lindrop.models.full_rank import fit_edlae as fit_full_edlae
from lindrop.models.popularity import fit_popularity
from lindrop.models.sampled import fit_sampled
from lindrop.models.slim.fit import fit_slim
from lindrop.models.wmf import fit_wmf

RESTED = 2e-3  # relative change of the sampled loss over the last tenth of the epochs

Fits = Iterator[tuple[int, Fit]]


@dataclass(frozen=True)
class Entry:
    """One model. `fit(data, ranks, **parameters)` yields a rank and its fit, for every rank.

    `row` is its row in Table 1 of Steck 2020, `baseline` for those that it reprints; `low_rank`
    tells whether its rank is to be chosen.
    """

    title: str
    row: str
    low_rank: bool
    fit: Callable[..., Fits]
    table_only: bool = False  # too slow for the curves over ranks
    dense: bool = True  # works in a matrix of items × items
    warm: bool = False  # is faster from `start`, the model of other parameters

    def require_memory(self, items: int, ranks: Sequence[int], **options: Any) -> None:
        """Refuse a fit that cannot fit in memory, before it starts, with the bytes it needs."""
        needed = self.needed_bytes(items, ranks, **options)
        require_memory(needed, f"fitting {self.title} to {items:,} items")

    def needed_bytes(self, items: int, ranks: Sequence[int], **options: Any) -> float:
        """Peak memory of a fit in float32, beside the interactions."""
        matrices = (2 if options.get("solver") == "als" else 1) if self.dense else 0
        return solver_bytes(items, max(ranks) if self.low_rank else 0, matrices)


def _full(fit: Callable[..., Fit]) -> Callable[..., Fits]:
    """A model without a choice of rank."""

    def fits(data: Training, ranks: Sequence[int], **parameters: Any) -> Fits:
        yield data.items, fit(data, **parameters)

    return fits


def _truncatable(fit: Callable[..., Fit]) -> Callable[..., Fits]:
    """A model whose largest rank holds the smaller ones."""

    def fits(data: Training, ranks: Sequence[int], **parameters: float) -> Fits:
        largest = fit(data, max(ranks), **parameters)
        assert isinstance(largest.model, LowRank)
        for rank in ranks:
            yield rank, Fit(largest.model.truncated(rank))

    return fits


def _sampled(data: Training, ranks: Sequence[int], p: float, ridge: float, **options: Any) -> Fits:
    """Converged where the loss, which has the noise of its masks, has come to rest."""
    for rank in ranks:
        u, v, history = fit_sampled(data.x, rank, p, ridge, seed=data.seed, **options)
        before, last = history[-max(2, len(history) // 10) :][0]["loss"], history[-1]["loss"]
        rested = len(history) > 1 and abs(before - last) <= RESTED * last
        if not rested:
            logger.info("rank %d: NOT CONVERGED in %d epochs", rank, len(history))
        yield rank, Fit(LowRank(u, v), [*history], rested)


REGISTRY: Mapping[str, Entry] = {
    "popularity": Entry("popularity", "", False, _full(fit_popularity), dense=False),
    "weight_decay": Entry("weight decay", "1", True, _truncatable(fit_weight_decay)),
    "product_l2": Entry("L2 of the product", "2", True, _truncatable(fit_product_l2)),
    "dropout_l2": Entry("dropout's L2 (DLAE)", "3", True, _truncatable(fit_dropout_l2)),
    "sampled_dropout": Entry(
        "DLAE, sampled dropout", "4", True, _sampled, table_only=True, dense=False
    ),
    "edlae": Entry("EDLAE", "5", True, fit_edlae),
    "slim": Entry("SLIM", "baseline", False, _full(fit_slim), warm=True),
    "wmf": Entry("WMF", "baseline", False, _full(fit_wmf), dense=False),
    "zero_diagonal_l2": Entry(
        "zero diagonal, λI (Eq. 11)", "", True, partial(fit_zero_diagonal, p=0.0)
    ),
    "zero_diagonal": Entry("zero diagonal, Λ̃ (Eq. 11)", "", True, fit_zero_diagonal),
    "full_l2": Entry("full rank, λI", "", False, _full(partial(fit_dlae, p=0.0))),
    "full_dlae": Entry("full-rank DLAE", "", False, _full(fit_dlae)),
    "ease": Entry(
        "EASE (full-rank EDLAE, p = 0)", "", False, _full(partial(fit_full_edlae, p=0.0))
    ),
    "full_edlae": Entry("full-rank EDLAE", "", False, _full(fit_full_edlae)),
}


def fit(name: str, data: Training, rank: int | None = None, **parameters: Any) -> Fit:
    """Fit one model: `fit("edlae", Training.of(x), rank=100, p=0.3, ridge=100)`."""
    if name not in REGISTRY:
        raise UserError(f"no model {name!r}; the models are {', '.join(REGISTRY)}")
    entry = REGISTRY[name]
    if entry.low_rank and not (rank is not None and 0 < rank < data.items):
        raise UserError(f"{name} needs a rank from 1 to {data.items - 1}, not {rank}")
    ranks = [rank if entry.low_rank and rank else data.items]
    entry.require_memory(data.items, ranks, **parameters)
    try:
        ((_, result),) = entry.fit(data, ranks, **parameters)
    except TypeError as error:  # a parameter that is missing or not its own
        raise UserError(f"{name}: {error}") from error
    return result
