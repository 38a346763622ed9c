"""What the catalogue says of a model, and how the model is fitted from it."""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lindrop.base.blas_kernels import LARGEST_FACTORED
from lindrop.base.errors import UserError
from lindrop.base.memory import available_bytes, require_memory
from lindrop.models.memory import MARGIN, Size, Work, full_rank
from lindrop.models.options import Option

if TYPE_CHECKING:
    from lindrop.models.base import Fit, SparseItems, Training

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

    `function` is `module:name`, the module below `lindrop.models`. `description` and `options` are
    what config/README.md says of the model and what the configuration accepts under its name.
    `fixed` are parameters that make this model of a more general one.
    """

    title: str
    function: str | Callable[..., Any]
    description: str
    options: Mapping[str, Option] = field(default_factory=dict)
    ranks: Ranks = Ranks.NONE
    fixed: Mapping[str, Any] = field(default_factory=dict)
    one_rank: bool = False  # is fitted at `rank` only: too slow for every one of `ranks`
    memory: Work = full_rank  # estimate of the peak bytes of a fit
    warm: bool = False  # is faster from `start`, the model of other parameters
    torch: bool = False  # needs PyTorch: `make deep` fits it
    gram: bool = True  # is fitted from X'X, else from X alone: no job counts X'X for it
    asked: bool = False  # takes part only where a configuration or a command names it
    scaled_by: str = ""  # the option that decides its memory, named where the memory is too small
    columns: str = ""  # `module:name` of fit(data, range, **parameters), if columns are independent

    @property
    def low_rank(self) -> bool:
        """Whether its rank is to be chosen."""
        return self.ranks is not Ranks.NONE

    @property
    def spectrum(self) -> bool:
        """Whether it is fitted from the leading eigenpairs of X'X, which a job computes once."""
        return self.gram and self.low_rank

    @property
    def full_rank(self) -> bool:
        """Whether it is a dense matrix in closed form, which needs no X'X where users are few."""
        return self.memory is full_rank

    @property
    def module(self) -> Path:
        """The file of the function that fits it."""
        assert isinstance(self.function, str)
        module = self.function.partition(":")[0]
        return Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")

    def resolved(self) -> Callable[..., Any]:
        """The function that fits it."""
        return self.function if callable(self.function) else self._imported(self.function)

    @staticmethod
    def _imported(function: str) -> Callable[..., Any]:
        module, _, name = function.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(f"{MODELS}.{module}"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise UserError("PyTorch is not installed: run `make deep`") from error
        return found

    def fits(self, data: "Training", ranks: Sequence[int], **parameters: Any) -> "Fits":
        """Fit the model at every rank; one without a rank is yielded with the number of items."""
        if self.low_rank and max(ranks) > LARGEST_FACTORED:
            raise UserError(
                f"{self.title}: rank {max(ranks):,} is above {LARGEST_FACTORED:,}, beyond which "
                "some kernels of OpenBLAS have crashed: use a smaller rank or a full-rank model"
            )
        self.require_parameters(parameters)
        fit, parameters = self.resolved(), self.complete(parameters)
        if self.ranks is Ranks.EACH:
            yield from fit(data, ranks, **parameters)
        elif self.ranks is Ranks.LARGEST:
            largest = fit(data, max(ranks), **parameters)
            for rank in ranks:
                yield rank, type(largest)(largest.model.truncated(rank))
        else:
            yield data.items, fit(data, **parameters)

    def fit_columns(self, data: "Training", columns: range, **parameters: Any) -> "SparseItems":
        """Fit a range of the columns of B alone, for a model that has `columns`."""
        self.require_parameters(parameters)
        fit = self._imported(self.columns)
        found: SparseItems = fit(data, columns, **self.complete(parameters))
        return found

    def complete(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The given and the fixed parameters; a whole number is an int: 16.0 epochs become 16."""
        whole = {name for name, option in self.options.items() if option.kind == "integer"}
        given = {name: int(of) if name in whole else of for name, of in parameters.items()}
        return {**self.fixed, **given}

    def require_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Raise UserError unless these are the function's parameters, within their bounds.

        A solver given another value might return a model as if nothing were wrong.
        """
        own = list(inspect.signature(self.resolved()).parameters.values())[1 + self.low_rank :]
        takes_any = any(each.kind is each.VAR_KEYWORD for each in own)
        needed = {each.name: each.default is each.empty and not takes_any for each in own}
        open_ = [name for name in needed if name not in self.fixed]
        for name, value in parameters.items():
            if name in self.fixed:
                raise UserError(f"{self.title}: {name} is {self.fixed[name]:g} in this model")
            if name not in needed and not takes_any:
                raise UserError(
                    f"{self.title}: no parameter {name!r}; its parameters: {', '.join(open_)}"
                )
            option = self.options.get("lambda" if name == "ridge" else name)
            if option and (problem := option.problem(value)):
                raise UserError(f"{self.title}: {name} is {value!r}, but {problem}")
        for name in open_:
            if needed[name] and name not in parameters:
                raise UserError(f"{self.title}: the parameter {name} is missing")

    def require_memory(self, size: Size, ranks: Sequence[int], **options: Any) -> None:
        """Refuse a fit that cannot fit in memory, before it starts, with the bytes it needs."""
        needed = self.needed_bytes(size, ranks, **options)
        if self.scaled_by and needed > available_bytes():
            self._refuse_size(size, ranks, needed, options)
        require_memory(needed, f"fitting {self.title} to {size.items:,} items")

    def _refuse_size(
        self, size: Size, ranks: Sequence[int], needed: float, options: Mapping[str, Any]
    ) -> None:
        """Raise UserError with the largest value of the option `scaled_by` that fits, if any does.

        It is found by bisection, since the estimate grows with the option.
        """
        fitting, available = 0, available_bytes()
        too_large = size.items
        while too_large - fitting > 1:
            middle = (fitting + too_large) // 2
            if self.needed_bytes(size, ranks, **{**options, self.scaled_by: middle}) <= available:
                fitting = middle
            else:
                too_large = middle
        if fitting:
            raise UserError(
                f"fitting {self.title} to {size.items:,} items needs {needed / 1e9:,.1f} GB, "
                f"{available / 1e9:,.1f} GB are available; the largest number of {self.scaled_by} "
                f"that fits is {fitting:,}"
            )

    def needed_bytes(self, size: Size, ranks: Sequence[int], **options: Any) -> float:
        """Peak memory of a fit in float32 and its evaluation, beside Python and the data."""
        return MARGIN * self.memory(size, ranks, options)
