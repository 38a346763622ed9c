"""`lindrop explain`: why a user is recommended an item."""

from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from lindrop.base.errors import UserError
from lindrop.cli import options as given_by
from lindrop.cli.data import histories, saved_model
from lindrop.cli.options import DATA, Sections
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.cli.talk import Talk
from lindrop.serving.recommend import because, recommend


@click.command(
    cls=Sections,
    help=f"""Show what each item that USER has adds to the score of ITEM, exactly.

{DATA} Without ITEM, the best items of the user are explained. The parts add up to
the score: a linear model scores an item by a sum over the items that a user has.

\b
Examples:
  lindrop explain my.model.h5 my.csv anna
  lindrop explain my.model.h5 my.csv anna p17 --k 5""",
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("who", metavar="USER")
@click.argument("what", metavar="[ITEM]", required=False)
@given_by.reading()
@given_by.min_rating()
@given_by.number("reasons for each item, the largest ones", 3)
@given_by.number("items that are explained without ITEM", 5, flag="items")
@given_by.output_form(*FORMS)
@given_by.talking
def command(
    talk: Talk,
    model: Path,
    data: Path,
    who: str,
    what: str | None,
    k: int,
    items: int,
    form: str | None,
    **options: Any,
) -> None:
    with talk.bars():
        saved = saved_model(model)
        found = histories(data, saved, options, talk)
    (row,) = np.flatnonzero(found.users == who)[:1] if (found.users == who).any() else (-1,)
    if row < 0:
        raise UserError(f"{data}: it has no user {who!r}")
    had = found.x[[row]]
    history = list(np.repeat(saved.items[had.indices], had.data.astype(int)))
    if not history:
        raise UserError(f"user {who!r} has no item that the model knows: nothing to explain")
    wanted = [what] if what else list(recommend(saved, history, items)["item"])
    if not wanted:
        raise UserError(f"user {who!r} has every item of the model: name an ITEM to explain")
    tables = [_reasons(saved, history, each, k) for each in wanted]
    show(pd.concat(tables, ignore_index=True), form_of(form))


def _reasons(saved: Any, history: list[str], item: str, k: int) -> pd.DataFrame:
    """The k items of a history that add most to the score of an item, and this score."""
    parts = because(saved, history, item)
    best = parts.head(k).rename(columns={"item": "because", "score": "adds"})
    return best.assign(item=item, score=parts["score"].sum())[["item", "score", "because", "adds"]]
