"""`lindrop tune`: compare models on a table, and save the winner fitted to all users."""

import time
from math import inf
from pathlib import Path
from typing import Any

import click
import pandas as pd

from lindrop.base.deadline import OutOfTime, until
from lindrop.base.errors import UserError
from lindrop.base.reporting import Progress
from lindrop.cli import options as given_by
from lindrop.cli.comparison import Comparison, compared
from lindrop.cli.data import divided, require_tested, stem, target
from lindrop.cli.options import DATA, Sections
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.cli.talk import Talk
from lindrop.output import compare
from lindrop.output.winner import notes, place, words
from lindrop.planning.budget import Choice
from lindrop.planning.limit import ALWAYS
from lindrop.serving.selection import Trial
from lindrop.store.model import write_model


@click.command(
    cls=Sections,
    short_help="Compare models on your data.",
    help=f"""Compare models on DATA, and save the best one fitted to all users.

{DATA}

Some users are set aside. The parameters of each model are chosen by what the
validation users had, and the models are compared by what the test users had. The
model with the highest criterion is then fitted to all users and saved, for
lindrop recommend. Models, their grids and ranks are chosen so that all of it takes
--budget minutes at most; lindrop says which, and what it leaves out and why. Quick
models come first.

\b
Examples:
  lindrop tune my.csv
  lindrop tune ratings.csv --min-rating 3.5 --metrics ndcg@20,recall@20
  lindrop tune log.parquet --user customer --item article --split leave_last
  lindrop tune my.csv --models ease,edlae --rank 100 --grid ease.lambda=30,100,300
  lindrop tune my.csv --as csv > comparison.csv""",
)
@click.argument("data", type=click.Path(path_type=Path))
@given_by.reading()
@given_by.splitting()
@compared
@given_by.output("DATA.model.h5", "the model")
@given_by.output_form(*FORMS)
@given_by.talking
def command(
    talk: Talk,
    data: Path,
    output: Path | None,
    form: str | None,
    models: str | None,
    grid: tuple[str, ...],
    **options: Any,
) -> None:
    comparison = Comparison.of(models, grid, options)
    file = target(output, f"{stem(data)}.model.h5", [data])
    with talk.bars():
        found = divided(data, options, talk)
        require_tested(found.split, data)
        choice = comparison.choice(found, talk)
        trial = Trial(found.split, comparison.settings)
        _test_all(trial, choice, comparison, talk)
    lines = _lines(trial, stem(data))
    table, best = compare.table(lines), lines[0].model
    show(table, form_of(form), _shown(lines))
    for sentence in [*words(table, lines[0].criterion), *notes(table, lines[0].criterion)]:
        talk.say(sentence)
    with talk.bars():
        talk.say(f"fitting {best} to all users")
        users, items, x = found.everything()
        model = trial.final(best, items, x, found.source)
        write_model(
            *(file, model.name, model.fit, items, model.parameters),
            shares=model.shares,
            source=model.source,
        )
    talk.say(f"saved {file}: {best} for {len(users):,} users and {len(items):,} items")
    talk.say(f"next: lindrop recommend {file} {data} -o recommendations.parquet", "bold")


def _test_all(trial: Trial, choice: Choice, comparison: Comparison, talk: Talk) -> None:
    """Tune and test the models one by one, each told when it is done.

    When the budget is used up, as on a busy machine, the others are left out, and so is the one
    that has begun.
    """
    end = time.time() + 60 * comparison.limit
    over = f"not done when the {comparison.limit:g} minutes were over; --budget gives more"
    criterion = trial.settings["criterion"]
    begun = time.time()
    progress = Progress("all models", len(choice.ways), unit="models", every=inf)
    progress.advance(0)
    for name, way in choice.ways.items():
        own_end = inf if name == ALWAYS else end
        try:
            if time.time() > own_end:  # a small fit might be done before a clock rings
                raise OutOfTime(over)
            with until(own_end, over):
                result = trial.tested(name, way.options, way.rank, comparison.tuning)
        except UserError as error:
            talk.say(f"{name} is left out: {error}", "yellow")
        else:
            row = compare.means(result.per_user, {}).to_dict("index")[criterion]
            found, minutes = compare.cell(row["mean"], row["stderr"]), (time.time() - begun) / 60
            talk.say(f"{name}: {criterion} {found} (after {minutes:.1f} min)")
        progress.advance(1)
    if not trial.results:
        if time.time() > end:
            raise UserError(
                f"no model was done within {comparison.limit:g} minutes: --budget gives more"
            )
        raise UserError("no model could be fitted to these data")


def _lines(trial: Trial, dataset: str) -> list[compare.Line]:
    """Lines of the comparison, the best first."""
    items, metrics = len(trial.split.items), trial.settings["metrics"]
    criterion, tested = trial.settings["criterion"], trial.results
    return [
        compare.Line(dataset, name, tested[name], metrics, items, placed, criterion)
        for name, placed in place(tested, metrics, criterion).items()
    ]


def _shown(lines: list[compare.Line]) -> pd.DataFrame:
    """The comparison for readers."""
    table = compare.shown(lines).drop(columns=["dataset", "peak, MB", "model, MB", "users"])
    return table.assign(model=[line.model for line in lines])
