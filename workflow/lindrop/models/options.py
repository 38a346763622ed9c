"""What the configuration may say of a model's options: their bounds, defaults and descriptions.

An option whose default is a list is searched: the configuration gives a list of values, and every
combination of all lists is a point of the grid. This module imports nothing heavy, since every
start of Snakemake reads it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any


@dataclass(frozen=True)
class Option:
    """One option of a model; `kind` is the JSON type of a value (of a list's entries)."""

    description: str
    default: Any
    kind: str = "number"
    minimum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: Sequence[str] = ()

    def schema(self) -> dict[str, Any]:
        """The option in the JSON schema of the configuration."""
        bounds = {"minimum": self.minimum, "exclusiveMinimum": self.above}
        bounds |= {"exclusiveMaximum": self.below}
        value: dict[str, Any] = {"type": self.kind}
        value |= {name: bound for name, bound in bounds.items() if bound is not None}
        if self.choices:
            value["enum"] = list(self.choices)
        if isinstance(self.default, list):
            value = {"type": "array", "minItems": 1, "x-allowed": self._list(), "items": value}
        return {"description": self.description, **value, "default": self.default}

    def problem(self, value: Any) -> str:
        """What is wrong with a value (one of a list's) that a fit is given; empty if nothing is.

        A fit may take the bound `above` itself, such as a tolerance of 0 in a test of a solver.
        """
        if self.choices:
            return "" if value in self.choices else f"must be one of {', '.join(self.choices)}"
        if self.kind == "boolean":
            return "" if value in (True, False) else "must be true or false"
        least = self.above if self.minimum is None else self.minimum
        whole = self.kind == "integer"  # 16.0 counts as whole: a table of trials holds floats
        kind: Any = Real
        if (
            isinstance(value, kind)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and (not whole or float(value).is_integer())
            and (least is None or value >= least)
            and (self.below is None or value < self.below)
        ):
            return ""
        bounds = {"at least": least, "below": self.below}
        said = [f", {word} {bound}" for word, bound in bounds.items() if bound is not None]
        return f"must be a {'whole' if whole else 'finite'} number{''.join(said)}"

    def _list(self) -> str:
        """Which lists are allowed, in words."""
        numbers = "a list of whole numbers" if self.kind == "integer" else "a list of numbers"
        if self.minimum is not None and self.below is not None:
            return f"{numbers} from {self.minimum} to below {self.below}"
        if self.above is not None:
            return f"{numbers}, greater than {self.above}"
        return numbers if self.minimum is None else f"{numbers}, at least {self.minimum}"


def schema(description: str, options: Mapping[str, Option]) -> dict[str, Any]:
    """A model in the JSON schema of the configuration."""
    return {
        "description": description,
        "type": "object",
        "additionalProperties": False,
        "x-allowed": "a mapping",
        "default": {},
        "properties": {name: option.schema() for name, option in options.items()},
    }


# Options that several models share; each is called with its default.
P = partial(Option, "Dropout probabilities to search.", minimum=0, below=1)
LAMBDA = partial(Option, "Values of the ridge penalty λ to search.", minimum=0)
EPOCHS = partial(Option, "Number of passes over the training users.", kind="integer", minimum=1)
ITERATIONS = partial(
    Option, "Largest number of iterations of the solver.", kind="integer", minimum=1
)
TOLERANCE = partial(
    Option,
    "The solver stops when two iterations in a row change the objective by less than this share.",
    above=0,
)
LATENT = partial(Option, "Number of units in the middle layer.", kind="integer", minimum=1)
HIDDEN = partial(
    Option,
    "Number of units in the layer before the middle one and in the layer after it; 0 leaves both "
    "layers out.",
    kind="integer",
    minimum=0,
)
PATIENCE = partial(
    Option,
    "Training stops after this many epochs in which the metric used for tuning did not improve on "
    "the validation users.",
    kind="integer",
    minimum=1,
)
BATCH = partial(Option, "Number of users in each training step.", kind="integer", minimum=1)
LEARNING_RATE = partial(Option, "Learning rate of Adam.", above=0)
NEIGHBOURS = partial(
    Option,
    "Numbers of neighbours to search: how many other items predict an item; at most all.",
    kind="integer",
    minimum=1,
)
USER_CAP = partial(
    Option,
    "A user with more items than this counts by a seeded sample of as many of them, in the choice "
    "of neighbours only.",
    kind="integer",
    minimum=1,
)
SPREAD = partial(
    Option,
    "Above 0, the number of neighbours of an item grows as this power of its number of users, to "
    "four times `neighbours` at most, which is the mean before each number is rounded down; 0.5 is "
    "a good choice.",
    minimum=0,
    below=1,
)
