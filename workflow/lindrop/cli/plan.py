"""`lindrop plan`: what `lindrop tune` would compare, how long it takes, and what it needs."""

from pathlib import Path
from typing import Any

import click
import pandas as pd

from lindrop.cli import options as given_by
from lindrop.cli.comparison import Comparison, compared
from lindrop.cli.data import divided
from lindrop.cli.options import DATA, Sections
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.cli.talk import Talk
from lindrop.models.catalogue import CATALOGUE
from lindrop.planning.budget import Choice
from lindrop.ranking.grids import grid as points_of


@click.command(
    cls=Sections,
    help=f"""Show what lindrop tune would do with DATA, before anything is fitted.

{DATA}

DATA is read and split. Each model is listed with the points of its grid, the minutes and
the memory that it is predicted to take on this machine, or with the reason why it is left
out. All options are those of lindrop tune.

\b
Examples:
  lindrop plan my.csv
  lindrop plan my.csv --budget 30
  lindrop plan my.csv --models edlae,slim --as csv""",
)
@click.argument("data", type=click.Path(path_type=Path))
@given_by.reading()
@given_by.splitting()
@compared
@given_by.output_form(*FORMS)
@given_by.talking
def command(
    talk: Talk,
    data: Path,
    form: str | None,
    models: str | None,
    grid: tuple[str, ...],
    **options: Any,
) -> None:
    comparison = Comparison.of(models, grid, options)
    with talk.bars():
        choice = comparison.choice(divided(data, options, talk), Talk(quiet=True))
    show(_table(choice), form_of(form))
    talk.say(f"in all about {choice.minutes:,.1f} of {comparison.budget:g} minutes")


def _table(choice: Choice) -> pd.DataFrame:
    """A row for every model that is compared or left out."""
    rows: list[dict[str, Any]] = [
        {
            "model": name,
            "points": str(len(points_of(way.options))),
            "rank": str(way.rank) if CATALOGUE[name].low_rank else "",
            "minutes": way.minutes,
            "memory_gb": way.memory / 1e9,
            "note": way.words,
        }
        for name, way in choice.ways.items()
    ]
    left = [{"model": name, "note": f"left out: {why}"} for name, why in choice.left_out.items()]
    return pd.DataFrame([*rows, *left]).fillna({"points": "", "rank": ""})
