"""Which models a command compares: options of `lindrop tune` and `lindrop plan`, and the choice."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import click

from lindrop.base.errors import UserError
from lindrop.base.memory import available_bytes
from lindrop.base.parallel import thread_count
from lindrop.cli import options as given_by
from lindrop.cli.data import Divided, settings_of, stem
from lindrop.cli.options import listed, named_values
from lindrop.cli.talk import Talk
from lindrop.models.catalogue import CATALOGUE
from lindrop.planning import budget as budgets

MINUTES = 5  # of a budget that nobody set
KEYS = ("metrics", "criterion", "rank", "tuning", "seed")

compared = given_by.all_of(
    [
        click.option(
            "--models",
            cls=given_by.Option,
            section="Models",
            metavar="LIST",
            help="Models to compare, such as ease,edlae.  [default: all that pay, in the budget]",
        ),
        click.option(
            "--budget",
            cls=given_by.Option,
            section="Models",
            type=given_by.Finite(min=0, min_open=True),
            help="Minutes: models, grids and ranks are chosen to fit, and what is not done then is "
            "left out. Without it, models that you name take what they need.  [default: 5]",
        ),
        click.option(
            "--grid",
            cls=given_by.Option,
            section="Models",
            multiple=True,
            metavar="MODEL.OPTION=LIST",
            help="Values to try of an option of a model; may be given several times.",
        ),
        given_by.of_config(*KEYS),
    ]
)


@dataclass(frozen=True)
class Comparison:
    """A checked configuration of a comparison, and which of its keys the user has set."""

    settings: Mapping[str, Any]
    models: list[str] | None
    fixed: tuple[str, ...]
    budget: float
    limit: float  # minutes after which no model is tuned any more

    @classmethod
    def of(
        cls, models: str | None, grid: tuple[str, ...], options: Mapping[str, Any]
    ) -> "Comparison":
        """The comparison that the options ask for."""
        config = {key: options[key] for key in KEYS if options[key] is not None}
        config.setdefault("tuning", "search")
        if config.get("metrics") and "criterion" not in config:
            config["criterion"] = config["metrics"][0]
        if models is not None:
            config["compare"] = {"models": listed(models)}
        config["models"] = _grids(grid)
        settings = settings_of(config, {"heldout_users": 1})
        compared = settings["compare"]["models"]
        if other := [name for name in config["models"] if compared and name not in compared]:
            raise UserError(f"--grid {other[0]}.…: {other[0]} is not among the --models")
        given = [key for key in ("rank", "tuning") if options[key] is not None]
        fixed = (*given, *config["models"])
        budget = options["budget"]
        limit = inf if compared and budget is None else budget or MINUTES
        return cls(settings, compared, fixed, budget or MINUTES, limit)

    @property
    def tuning(self) -> str:
        """How parameters are chosen."""
        return str(self.settings["tuning"])

    def choice(self, found: Divided, talk: Talk) -> budgets.Choice:
        """Models, grids and ranks that the budget allows on these data."""
        size, cores = found.size(), min(thread_count(), os.cpu_count() or 1)
        asked = self.models, self.fixed
        config = {**self.settings, "datasets": {"data": {"protocol": {"split": ""}}}}
        if deep := [name for name in self.models or [] if CATALOGUE[name].torch]:
            raise UserError(f"--models: {deep[0]} is a deep model, which only `make deep` trains")
        choice = budgets.chosen(
            *("data", size, config, self.budget, cores, available_bytes()), *asked
        )
        for line in budgets.told(stem(found.path), choice, self.budget, cores).splitlines()[1:]:
            talk.say(line.removeprefix("  "))
        return choice


def _grids(texts: tuple[str, ...]) -> dict[str, dict[str, list[Any]]]:
    """Options of models of texts such as ease.lambda=10,100."""
    grids: dict[str, dict[str, list[Any]]] = {}
    for name, values in named_values(texts, "MODEL.OPTION=LIST, as in ease.lambda=10,100").items():
        model, dot, option = name.partition(".")
        if not dot:
            raise click.UsageError(f"{name!r}: name the model, too, as in ease.lambda=10,100")
        grids.setdefault(model, {})[option] = listed(values)
    return grids
