"""`lindrop recommend`: the best items of every user."""

import sys
from pathlib import Path
from typing import Any

import click

from lindrop.cli import options as given_by
from lindrop.cli.data import histories, saved_model, target
from lindrop.cli.options import DATA, Sections
from lindrop.cli.talk import Talk, is_terminal
from lindrop.serving.histories import chosen, read_ids
from lindrop.serving.recommend import recommended
from lindrop.store.recommendations import ENDINGS, write_recommendations, write_rows


@click.command(
    cls=Sections,
    help=f"""Write the K best items of every user of DATA by a saved MODEL.

{DATA} Columns are those that the model was fitted with, if they are there.

The result has a row for each user and item: user, item, rank, score, by. Items that a
user has already are left out. by is popularity for a user with no item that the model
knows; score is then the share of users who have the item.

\b
Examples:
  lindrop recommend my.model.h5 my.csv -o recommendations.parquet
  lindrop recommend my.model.h5 my.csv --k 5 --users vip.txt --as json
  lindrop recommend my.model.h5 new_users.csv --block sold_out.txt | head""",
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@given_by.reading()
@given_by.min_rating()
@given_by.number("items of each user", 20, section="What is recommended")
@click.option(
    "--users",
    cls=given_by.Option,
    section="What is recommended",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with one user id per line: only they, in this order.",
)
@click.option(
    "--allow",
    cls=given_by.Option,
    section="What is recommended",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with one item id per line: only these items.",
)
@click.option(
    "--block",
    cls=given_by.Option,
    section="What is recommended",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with one item id per line: never these items.",
)
@click.option(
    "--keep-seen",
    cls=given_by.Option,
    section="What is recommended",
    is_flag=True,
    help="Recommend items that the user has, too.",
)
@given_by.output("standard output", ".parquet, .csv, .tsv or .json (an object per line)")
@given_by.output_form("csv", "tsv", "json")
@given_by.talking
def command(
    talk: Talk,
    model: Path,
    data: Path,
    k: int,
    users: Path | None,
    allow: Path | None,
    block: Path | None,
    keep_seen: bool,
    output: Path | None,
    form: str | None,
    **options: Any,
) -> None:
    file = None if output is None else target(output, "", [model, data])
    if file is not None and file.suffix not in ENDINGS:
        raise click.UsageError(f"-o {file}: name a file that ends in {', '.join(ENDINGS)}")
    with talk.bars(shown=file is not None or not is_terminal()):
        saved = saved_model(model)
        found = histories(data, saved, options, talk)
        if users is not None:
            found = chosen(found, read_ids(users))
        only = None if allow is None else read_ids(allow).to_pylist()
        never = () if block is None else read_ids(block).to_pylist()
        parts = recommended(saved, found, k, only, never, keep_seen)
        if file is None:
            write_rows(sys.stdout, parts, form or "csv")
            return
        write_recommendations(file, parts, len(found.users))
    talk.say(f"saved {file}: {len(found.users):,} users, {k} items each")
