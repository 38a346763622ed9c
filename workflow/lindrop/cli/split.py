"""`lindrop split`: training, validation and test as a file, for `lindrop fit` and `evaluate`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import pandas as pd

from lindrop.base.errors import UserError
from lindrop.cli import options as given_by
from lindrop.cli.data import divided, stem, target
from lindrop.cli.options import DATA, Sections
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.cli.talk import Talk
from lindrop.store.seal import is_stored
from lindrop.store.split import write_split


@click.command(
    cls=Sections,
    help=f"""Split DATA into training, validation and test.

{DATA}

lindrop tune splits by itself; a split as a file compares models that are fitted one by
one with lindrop fit and tested with lindrop evaluate. The workflow reads and writes the
same files.

\b
Examples:
  lindrop split my.csv --heldout-users 500
  lindrop split ratings.csv --min-rating 3.5 --min-user-interactions 5 -o strong.h5
  lindrop split log.csv --split time --time when --cut 2024-06-01""",
)
@click.argument("data", type=click.Path(path_type=Path))
@given_by.reading()
@given_by.splitting()
@given_by.output("DATA.split.h5", "the split")
@given_by.output_form(*FORMS)
@given_by.talking
def command(talk: Talk, data: Path, output: Path | None, form: str | None, **options: Any) -> None:
    if is_stored(data):
        raise UserError(f"{data}: the file is split already")
    file = target(output, f"{stem(data)}.split.h5", [data])
    with talk.bars():
        found = divided(data, options, talk)
        write_split(file, found.split, {"path": data.name, **found.source})
    rows = {name: len(events) for name, events in found.split.parts().items()}
    counts = pd.Series({**asdict(found.split.counts), **rows}, name="count")
    show(counts.rename_axis("what").reset_index(), form_of(form))
    talk.say(f"saved {file}")
    talk.say(f"next: lindrop fit {file} ease lambda=100 -o ease.h5", "bold")
