"""`lindrop evaluate`: metrics of a saved model on the test users of its split."""

from pathlib import Path
from typing import Any

import click

from lindrop.base.errors import UserError
from lindrop.cli import options as given_by
from lindrop.cli.data import require_tested, saved_model, settings_of
from lindrop.cli.options import Sections
from lindrop.cli.tables import FORMS, form_of, show
from lindrop.cli.talk import Talk
from lindrop.models.base import shares_of_users
from lindrop.output.compare import means
from lindrop.ranking.evaluation import evaluate
from lindrop.store.seal import is_stored
from lindrop.store.split import fingerprint, read_split


@click.command(
    cls=Sections,
    help="""Test a saved MODEL on the test users of SPLIT, a file of lindrop split.

The model must be fitted to the training users of this very split: lindrop refuses one
that knows the test users already.

\b
Examples:
  lindrop split my.csv
  lindrop fit my.split.h5 ease lambda=100 -o ease.h5
  lindrop evaluate ease.h5 my.split.h5 --metrics ndcg@10,hit_rate@10,coverage@10""",
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("split", type=click.Path(path_type=Path))
@given_by.of_config("metrics", section="Options")
@given_by.output_form(*FORMS)
@given_by.talking
def command(
    talk: Talk, model: Path, split: Path, metrics: list[str] | None, form: str | None
) -> None:
    config: dict[str, Any] = {} if metrics is None else {"metrics": metrics}
    if metrics:
        config["criterion"] = metrics[0]
    names = settings_of(config, {"heldout_users": 1})["metrics"]
    if not is_stored(split):
        raise UserError(f"{split}: not a split; `lindrop split` makes one")
    with talk.bars():
        saved, parts = saved_model(model), read_split(split)
        if saved.split_sha256 != fingerprint(parts):
            raise UserError(
                f"{model}: not fitted to the training users of {split}, so it may know the test "
                f"users: lindrop fit {split} {saved.name} …"
            )
        require_tested(parts, split)
        users = parts.matrix("test/fold_in"), parts.matrix("test/held_out")
        shares = shares_of_users(parts.matrix("train"))
        found = evaluate(saved.fit.model, *users, names, shares)
    table = means(found.per_user, found.overall).loc[names]
    show(table.rename_axis("metric").reset_index(), form_of(form))
