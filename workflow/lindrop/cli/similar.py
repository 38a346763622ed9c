"""`lindrop similar`: items like an item."""

from pathlib import Path

import click
import pandas as pd

from lindrop.cli import options as given_by
from lindrop.cli.data import saved_model
from lindrop.cli.options import Sections
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.serving.recommend import similar


@click.command(
    cls=Sections,
    help="""Show the K items that a saved MODEL recommends to who has ITEM alone.

\b
Examples:
  lindrop similar my.model.h5 p17
  lindrop similar my.model.h5 p17 p40 --k 3 --as csv""",
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("item", nargs=-1, required=True)
@given_by.number("items", 10)
@given_by.output_form(*FORMS)
def command(model: Path, item: tuple[str, ...], k: int, form: str | None) -> None:
    saved = saved_model(model)
    tables = [similar(saved, each, k).assign(of=each) for each in item]
    columns = ["of", "rank", "item", "score"]
    show(pd.concat(tables, ignore_index=True)[columns], form_of(form))
