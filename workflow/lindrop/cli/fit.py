"""`lindrop fit`: one model with parameters of the user's choice."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from lindrop.base.errors import UserError
from lindrop.cli import options as given_by
from lindrop.cli.data import divided, load, say_density, stem, target
from lindrop.cli.options import DATA, Sections, named_values, scalar
from lindrop.cli.talk import Talk
from lindrop.models.catalogue import CATALOGUE
from lindrop.serving.selection import fitted
from lindrop.store.model import write_model
from lindrop.store.seal import is_stored
from lindrop.store.split import fingerprint

MODELS = "\n".join(
    f"  {name:<17}{', '.join([*(['rank'] if entry.low_rank else []), *entry.options]) or '-'}"
    for name, entry in CATALOGUE.items()
)


@click.command(
    cls=Sections,
    help=f"""Fit MODEL to DATA, with parameters such as lambda=100.

{DATA} With a file of lindrop split, the model is fitted to its training users, for
lindrop evaluate; else to all users.

\b
Models and their parameters (docs/models.md):
{MODELS}

\b
Examples:
  lindrop fit my.csv ease lambda=100
  lindrop fit my.csv edlae rank=100 p=0.3 lambda=100 -o edlae.h5
  lindrop fit my.split.h5 sparse_edlae neighbours=100 p=0.5 lambda=30""",
)
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("model", type=click.Choice(list(CATALOGUE)), metavar="MODEL")
@click.argument("parameters", nargs=-1, metavar="[PARAMETER=VALUE]...")
@given_by.reading()
@given_by.splitting(("min_rating", "repeats", "min_item_users", "min_user_interactions"))
@given_by.of_config("seed")
@given_by.output("DATA.MODEL.h5", "the model")
@given_by.talking
def command(
    talk: Talk,
    data: Path,
    model: str,
    parameters: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    **options: Any,
) -> None:
    named = named_values(parameters, "PARAMETER=VALUE, as in lambda=100")
    values = {name: scalar(value) for name, value in named.items()}
    _require_own(model, values)
    file = target(output, f"{stem(data)}.{model}.h5", [data])
    with talk.bars():
        if is_stored(data):
            found = divided(data, options, talk)
            parts, source = found.split, found.source
            items, x, digest = parts.items, parts.matrix("train"), fingerprint(parts)
        else:
            loaded = load(data, options, talk)
            (_, items, x), digest, source = loaded.everything(tell=True), "", loaded.source
            say_density(x, talk)
        saved = fitted(model, values, items, x, source, 1 if seed is None else seed, digest)
        write_model(
            file, model, saved.fit, items, saved.parameters, digest, saved.shares, saved.source
        )
    talk.say(f"saved {file}: {model} for {x.shape[0]:,} users and {x.shape[1]:,} items")
    after = f"evaluate {file} {data}" if digest else f"recommend {file} {data}"
    talk.say(f"next: lindrop {after}", "bold")


def _require_own(model: str, values: Mapping[str, Any]) -> None:
    """Refuse parameters before anything is read; λ is `lambda` here, as in a configuration."""
    python = {"ridge" if name == "lambda" else name: value for name, value in values.items()}
    if python.pop("rank", None) is not None and not CATALOGUE[model].low_rank:
        raise UserError(f"{CATALOGUE[model].title}: no parameter 'rank'; the model has none")
    try:
        CATALOGUE[model].require_parameters(python)
    except UserError as error:
        raise UserError(re.sub(r"\bridge\b", "lambda", str(error))) from error
