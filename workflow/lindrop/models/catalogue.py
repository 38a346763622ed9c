"""Every model: what it is called, where Table 1 of Steck 2020 has it, and which function fits it.

A model is one module with its fit, and one row here. The module is imported when the model is first
fitted: reading the catalogue needs neither compiled code nor PyTorch, and a change of one model's
module concerns no other model (see `lindrop.base.digest`).
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lindrop.base.errors import UserError
from lindrop.base.memory import require_memory, solver_bytes

if TYPE_CHECKING:
    from lindrop.models.base import Fit, Training

    Fits = Iterator[tuple[int, Fit]]

MODELS = "lindrop.models"


class Ranks(Enum):
    """How the function that fits a model takes ranks."""

    NONE = "fit(data, **parameters): the model has no rank to choose"
    LARGEST = "fit(data, rank, **parameters): the model of the largest rank holds the smaller ones"
    EACH = "fit(data, ranks, **parameters): yields each rank with its fit"


@dataclass(frozen=True)
class Entry:
    """One model. `fits(data, ranks, **parameters)` yields a rank and its fit, for every rank.

    `function` is `module:name`, the module below `lindrop.models`; `fixed` are parameters that make
    this model of a more general one. `row` is its row in Table 1 of Steck 2020, `baseline` for
    those that the paper reprints.
    """

    title: str
    function: str | Callable[..., Any]
    ranks: Ranks = Ranks.NONE
    row: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    table_only: bool = False  # too slow for the curves over ranks
    dense: bool = True  # works in a matrix of items × items
    warm: bool = False  # is faster from `start`, the model of other parameters
    torch: bool = False  # needs PyTorch: `make deep` fits it

    @property
    def low_rank(self) -> bool:
        """Whether its rank is to be chosen."""
        return self.ranks is not Ranks.NONE

    @property
    def module(self) -> Path:
        """The file of the function that fits it."""
        assert isinstance(self.function, str)
        module = self.function.partition(":")[0]
        return Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")

    def resolved(self) -> Callable[..., Any]:
        """The function that fits it."""
        if callable(self.function):
            return self.function
        module, _, name = self.function.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(f"{MODELS}.{module}"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise UserError("PyTorch is not installed: run `make deep`") from error
        return found

    def fits(self, data: "Training", ranks: Sequence[int], **parameters: Any) -> "Fits":
        """Fit the model at every rank; one without a rank is yielded with the number of items."""
        fit, parameters = self.resolved(), {**self.fixed, **parameters}
        if self.ranks is Ranks.EACH:
            yield from fit(data, ranks, **parameters)
        elif self.ranks is Ranks.LARGEST:
            largest = fit(data, max(ranks), **parameters)
            for rank in ranks:
                yield rank, type(largest)(largest.model.truncated(rank))
        else:
            yield data.items, fit(data, **parameters)

    def require_memory(self, items: int, ranks: Sequence[int], **options: Any) -> None:
        """Refuse a fit that cannot fit in memory, before it starts, with the bytes it needs."""
        needed = self.needed_bytes(items, ranks, **options)
        require_memory(needed, f"fitting {self.title} to {items:,} items")

    def needed_bytes(self, items: int, ranks: Sequence[int], **options: Any) -> float:
        """Peak memory of a fit in float32, beside the interactions."""
        matrices = (2 if options.get("solver") == "als" else 1) if self.dense else 0
        return solver_bytes(items, max(ranks) if self.low_rank else 0, matrices)


CATALOGUE: Mapping[str, Entry] = {
    "popularity": Entry("popularity", "popularity:fit_popularity", dense=False),
    "weight_decay": Entry("weight decay", "closed_form:fit_weight_decay", Ranks.LARGEST, row="1"),
    "product_l2": Entry("L2 of the product", "closed_form:fit_product_l2", Ranks.LARGEST, row="2"),
    "dropout_l2": Entry(
        "dropout's L2 (DLAE)", "closed_form:fit_dropout_l2", Ranks.LARGEST, row="3"
    ),
    "sampled_dropout": Entry(
        "DLAE, sampled dropout",
        "sampled:fit_sampled_dropout",
        Ranks.EACH,
        row="4",
        table_only=True,
        dense=False,
    ),
    "edlae": Entry("EDLAE", "edlae.fit:fit_edlae", Ranks.EACH, row="5"),
    "slim": Entry("SLIM", "slim.fit:fit_slim", row="baseline", warm=True),
    "wmf": Entry("WMF", "wmf.fit:fit_wmf", row="baseline", dense=False),
    "cdae": Entry("CDAE", "torch.fit:fit_cdae", row="baseline", dense=False, torch=True),
    "mult_vae": Entry(
        "Mult-VAE", "torch.fit:fit_mult_vae", row="baseline", dense=False, torch=True
    ),
    "mult_dae": Entry(
        "Mult-DAE", "torch.fit:fit_mult_dae", row="baseline", dense=False, torch=True
    ),
    "zero_diagonal_l2": Entry(
        "zero diagonal, λI (Eq. 11)", "edlae.fit:fit_zero_diagonal", Ranks.EACH, fixed={"p": 0.0}
    ),
    "zero_diagonal": Entry("zero diagonal, Λ̃ (Eq. 11)", "edlae.fit:fit_zero_diagonal", Ranks.EACH),
    "full_l2": Entry("full rank, λI", "full_rank:fit_dlae", fixed={"p": 0.0}),
    "full_dlae": Entry("full-rank DLAE", "full_rank:fit_dlae"),
    "ease": Entry("EASE (full-rank EDLAE, p = 0)", "full_rank:fit_edlae", fixed={"p": 0.0}),
    "full_edlae": Entry("full-rank EDLAE", "full_rank:fit_edlae"),
}
TORCH = {name: entry.title for name, entry in CATALOGUE.items() if entry.torch}


def fit(name: str, data: "Training", rank: int | None = None, **parameters: Any) -> "Fit":
    """Fit one model: `fit("edlae", Training.of(x), rank=100, p=0.3, ridge=100)`."""
    if name not in CATALOGUE:
        raise UserError(f"no model {name!r}; the models are {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    if entry.low_rank and not (rank is not None and 0 < rank < data.items):
        raise UserError(f"{name} needs a rank from 1 to {data.items - 1}, not {rank}")
    ranks = [rank if entry.low_rank and rank else data.items]
    entry.require_memory(data.items, ranks, **parameters)
    try:
        ((_, result),) = entry.fits(data, ranks, **parameters)
    except TypeError as error:  # a parameter that is missing or not its own
        raise UserError(f"{name}: {error}") from error
    return result
