"""Tune several models on one split, test them, and fit the winner to all interactions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import scipy.sparse as sp

from lindrop.base.arrays import Matrix, Vector
from lindrop.base.memory import available_bytes
from lindrop.data.interactions import Ids
from lindrop.data.split import Protocol, Split
from lindrop.models.base import Training, Validation
from lindrop.models.catalogue import CATALOGUE, fit
from lindrop.models.memory import matrix_bytes
from lindrop.models.search import search
from lindrop.models.tuning import (
    Tested,
    choose,
    only_choice,
    ranks_of,
    refit,
    solver_options,
    tune,
)
from lindrop.ranking.grids import grid, rank_of_table
from lindrop.store.model import SavedModel


@dataclass(frozen=True)
class Trial:
    """Models on one split: each is tuned on the validation users and judged by the test users."""

    split: Split
    settings: Mapping[str, Any]  # a checked configuration: seed, metrics and criterion count
    results: dict[str, Tested] = field(default_factory=dict)
    options: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # of the solvers
    spectra: dict[int, tuple[Vector, Matrix]] = field(default_factory=dict)  # of each training data

    @cached_property
    def _tuning(self) -> Training:
        """What models are tuned on."""
        strong = isinstance(self.split.protocol, Protocol)
        return self._training("train" if strong else "validation/fold_in")

    @cached_property
    def _fitting(self) -> Training:
        """What the tested models are fitted to."""
        strong = isinstance(self.split.protocol, Protocol)
        return self._tuning if strong else self._training("train")

    def _training(self, part: str) -> Training:
        x = self.split.matrix(part)
        room = available_bytes() > 3 * matrix_bytes(x.shape[1])  # to keep X'X from fit to fit
        data = Training.of(x, self.settings["seed"], keep=room)
        return replace(data, metrics=self.settings["metrics"], criterion=self.settings["criterion"])

    def _with_spectrum(self, data: Training, name: str, rank: int) -> Training:
        """The data with the leading eigenpairs of X'X, found once for all models that need them."""
        if not CATALOGUE[name].spectrum:
            return data
        found = self.spectra.get(id(data))
        if found is None or len(found[0]) < rank:
            found = self.spectra[id(data)] = data.top_spectrum(rank)
        return replace(data, spectrum=found)

    def _users(self, part: str) -> Validation:
        return Validation(*(self.split.matrix(f"{part}/{name}") for name in Validation._fields))

    def tested(self, name: str, options: Mapping[str, Any], rank: int, tuning: str) -> Tested:
        """Choose the parameters of a model on the validation users, and judge it on the others."""
        criterion = self.settings["criterion"]
        ranks = ranks_of(name, rank, [rank], self._tuning)
        data, final = (
            self._with_spectrum(each, name, max(ranks)) for each in (self._tuning, self._fitting)
        )
        users = self._users("validation")
        if len(grid(options)) == 1:
            chosen = only_choice(options, ranks)
        else:
            if tuning == "search":
                first = rank_of_table(rank, ranks)
                trials = search(data, name, first, ranks, options, *users, criterion)
            else:
                trials = tune(data, name, grid(options), ranks, options, *users)
            chosen = choose(trials, options, criterion)
        tests = self._users("test")
        ((result, _),) = refit(final, name, chosen, options, *tests).values()
        self.results[name], self.options[name] = result, solver_options(options)
        return result

    def final(
        self, name: str, items: Ids, x: sp.csr_array, source: Mapping[str, Any]
    ) -> SavedModel:
        """A model with its chosen parameters, fitted to all interactions `x` over `items`."""
        chosen = self.results[name]
        rank = {"rank": chosen.rank} if CATALOGUE[name].low_rank else {}
        parameters = {**rank, **chosen.parameters, **self.options[name]}
        return fitted(name, parameters, items, x, source, self.settings["seed"])


def fitted(
    name: str,
    parameters: Mapping[str, Any],
    items: Ids,
    x: sp.csr_array,
    source: Mapping[str, Any] | None = None,
    seed: int = 1,
    split_sha256: str = "",
) -> SavedModel:
    """A model of the catalogue with these parameters, fitted to the interactions `x`."""
    data = Training.of(x, seed, keep=False)
    found = fit(name, data, **parameters)
    return SavedModel(name, found, items, dict(parameters), split_sha256, data.shares, source or {})
