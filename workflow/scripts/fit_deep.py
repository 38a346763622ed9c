from pathlib import Path

from lindrop.base.reporting import job
from lindrop.models.base import shares_of_users
from lindrop.models.tuning import choose, number_of, only_choice, refit, solver_options
from lindrop.store.metrics import write_metrics
from lindrop.store.model import write_model
from lindrop.store.split import (
    read_items,
    read_split_matrix,
    read_split_sha256,
    read_treatment,
)
from lindrop.store.training import read_deep_training
from lindrop.store.trials import read_trials

wildcards, params = snakemake.wildcards, snakemake.params
split, trials, output = snakemake.input.split, snakemake.input.trials, snakemake.output


def checkpoint(file):
    """Path of the checkpoint beside a file; no output of a rule, so Snakemake keeps it."""
    return Path(file).with_suffix(".checkpoint")


with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    items, digest = read_items(split), read_split_sha256(split)
    if trials:
        criterion = params.criterion
        tried = read_trials(trials, params.options, [criterion], wildcards.model, digest)
        chosen = choose(tried, params.options, criterion)
        # continue from the finished training that the tuning job of this point left
        made_for = trials[number_of(chosen.iloc[0], params.options)]
    else:
        chosen, made_for = only_choice(params.options, [len(items)]), output.model
    data = read_deep_training(
        *(split, params.seed, checkpoint(made_for)),
        *(params.metrics, params.criterion, params.part),
    )
    results = refit(
        data,
        wildcards.model,
        chosen,
        params.options,
        fold_in=read_split_matrix(split, "test/fold_in"),
        held_out=read_split_matrix(split, "test/held_out"),
        # a deep model of a weak split is not fitted to all of the training part
        shares=shares_of_users(read_split_matrix(split, "train")),
    )
    ((tested, model),) = results.values()
    write_metrics(output.metrics, wildcards.dataset, wildcards.model, results, params.lineage)
    write_model(
        output.model,
        wildcards.model,
        model,
        items,
        {**tested.parameters, **solver_options(params.options)},
        digest,
        data.shares,
        read_treatment(split),
    )
    # also delete the checkpoints of points that are no longer in the grid
    for file in (*Path(params.tuning).glob("*.checkpoint"), checkpoint(output.model)):
        file.unlink(missing_ok=True)
