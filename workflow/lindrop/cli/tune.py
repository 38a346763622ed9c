"""`lindrop tune`: compare models on a table, and save the winner fitted to all users."""

from pathlib import Path
from typing import Any

import click
import pandas as pd

from lindrop.base.errors import UserError
from lindrop.base.memory import available_bytes
from lindrop.base.reporting import Progress
from lindrop.cli import options as given_by
from lindrop.cli.data import divided, settings_of, stem, target
from lindrop.cli.options import DATA, Sections, listed, named_values
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.cli.talk import Talk
from lindrop.output import compare
from lindrop.serving.selection import QUICK, Settings, Trial
from lindrop.store.model import write_model


@click.command(
    cls=Sections,
    short_help="Compare models on your data.",
    help=f"""Compare models on DATA, and save the best one fitted to all users.

{DATA}

Some users are set aside. The parameters of each model are chosen by what the
validation users had, and the models are compared by what the test users had. The
model with the highest criterion is then fitted to all users and saved, for
lindrop recommend. Quick models come first; one that does not fit into the memory is
left out, and lindrop says so.

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
@click.option(
    "--models",
    cls=given_by.Option,
    section="Models",
    metavar="LIST",
    help=f"Models to compare, such as ease,edlae.  [default: {','.join(QUICK)}]",
)
@click.option(
    "--grid",
    cls=given_by.Option,
    section="Models",
    multiple=True,
    metavar="MODEL.OPTION=LIST",
    help="Values to try of an option of a model; may be given several times.",
)
@given_by.of_config("metrics", "criterion", "rank", "tuning", "seed")
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
    keys = ("metrics", "criterion", "rank", "tuning", "seed")
    config = {key: options[key] for key in keys if options[key] is not None}
    config.setdefault("tuning", "search")
    if "metrics" in config and "criterion" not in config:
        config["criterion"] = config["metrics"][0]
    if models is not None:
        config["compare"] = {"models": listed(models)}
    config["models"] = _grids(grid)
    settings = settings_of(config, {"heldout_users": 1})
    file = target(output, f"{stem(data)}.model.h5", [data])
    with talk.bars():
        found = divided(data, options, talk)
        trial = Trial(found.split, Settings.of(settings))
        names = settings["compare"]["models"] or _quick(trial, talk)
        _test_all(trial, names, talk)
    lines = _lines(trial, stem(data))
    show(compare.table(lines), form_of(form), _shown(trial, lines))
    best = trial.winner()
    with talk.bars():
        talk.say(f"winner: {best}; fitting it to all users")
        users, items, x = found.everything()
        model = trial.final(best, items, x, found.source)
        write_model(
            file, model.name, model.fit, items, model.parameters, "", model.shares, model.source
        )
    talk.say(f"saved {file}: {best} for {len(users):,} users and {len(items):,} items")
    talk.say(f"next: lindrop recommend {file} {data} -o recommendations.parquet", "bold")


def _grids(texts: tuple[str, ...]) -> dict[str, dict[str, list[Any]]]:
    """Options of models of texts such as ease.lambda=10,100."""
    grids: dict[str, dict[str, list[Any]]] = {}
    for name, values in named_values(texts, "MODEL.OPTION=LIST, as in ease.lambda=10,100").items():
        model, dot, option = name.partition(".")
        if not dot:
            raise click.UsageError(f"{name!r}: name the model, too, as in ease.lambda=10,100")
        grids.setdefault(model, {})[option] = listed(values)
    return grids


def _quick(trial: Trial, talk: Talk) -> list[str]:
    """The models that are compared if none is named: those that fit into the memory."""
    names, room = [], available_bytes()
    for name in QUICK:
        needed = trial.needed_bytes(name)
        if needed <= room:
            names.append(name)
        else:
            talk.say(
                f"{name} is left out: it needs {needed / 1e9:,.1f} GB of memory, "
                f"{room / 1e9:,.1f} GB are available",
                "yellow",
            )
    return names


def _test_all(trial: Trial, names: list[str], talk: Talk) -> None:
    """Tune and test the models one by one, each told when it is done."""
    progress = Progress("models", len(names), unit="models")
    progress.advance(0)
    for name in names:
        try:
            result = trial.tested(name)
        except UserError as error:
            talk.say(f"{name} is left out: {error}", "yellow")
        else:
            found = compare.Line("", name, result, trial.settings.metrics, 0).summary()
            row = found.to_dict("index")[trial.settings.criterion]
            talk.say(
                f"{name}: {trial.settings.criterion} {compare.cell(row['mean'], row['stderr'])}"
            )
        progress.advance(1)
    if not trial.results:
        raise UserError("no model could be fitted to these data")


def _lines(trial: Trial, dataset: str) -> list[compare.Line]:
    """Lines of the comparison, the best first."""
    items, metrics = len(trial.split.items), trial.settings.metrics
    best = trial.settings.criterion
    return sorted(
        (
            compare.Line(dataset, name, tested, metrics, items)
            for name, tested in trial.results.items()
        ),
        key=lambda line: -line.summary()["mean"][best],
    )


def _shown(trial: Trial, lines: list[compare.Line]) -> pd.DataFrame:
    """The comparison for readers, with the paired difference to the winner."""
    table = compare.shown(lines).drop(columns=["dataset", "peak, MB", "users"])
    table["model"] = [line.model for line in lines]
    differences = [trial.behind(line.model) for line in lines]
    table.insert(
        len(trial.settings.metrics) + 1,
        "to the winner",
        ["", *(f"{mean:+.4f} ± {stderr:.4f}" for mean, stderr in differences[1:])],
    )
    return table
