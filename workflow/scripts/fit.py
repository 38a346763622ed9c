from dataclasses import replace
from functools import partial
from importlib import import_module

from lindrop.base.reporting import job
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import pattern_joined
from lindrop.models.tuning import ranks_of, refit, solver_options
from lindrop.planning.limit import FIT, kept_to_budget
from lindrop.ranking.grids import rank_of_table
from lindrop.store.metrics import write_metrics
from lindrop.store.model import write_model
from lindrop.store.split import (
    read_items,
    read_split_matrix,
    read_split_sha256,
    read_treatment,
)
from lindrop.store.training import read_training
from lindrop.store.trials import read_choice

wildcards, params = snakemake.wildcards, snakemake.params


def joined_shards(data, *, paths, digest, **parameters):
    """The fit whose columns other jobs have solved.

    An import would put the code of this into the hash of every model's jobs.
    """
    join = import_module("lindrop.store.columns").join_columns
    return join(paths, wildcards.model, data.items, parameters, digest)


with (
    job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"),
    kept_to_budget(wildcards.dataset, wildcards.model, snakemake.output, snakemake.log[0], FIT),
):
    split = snakemake.input.split
    digest, entry = read_split_sha256(split), CATALOGUE[wildcards.model]
    data = read_training(
        split,
        snakemake.input.gram or None,
        snakemake.input.spectrum or None,
        params.seed,
        params.metrics,
        light=not entry.gram,
    )
    chosen = read_choice(
        snakemake.input.trials,
        params.options,
        ranks_of(wildcards.model, params.rank, params.ranks, data),
        params.criterion,
        wildcards.model,
        digest,
        params.tuning == "grid",
    )
    if shards := snakemake.input.get("shards"):
        function = partial(joined_shards, paths=shards, digest=digest)
        entry = replace(entry, function=function, memory=pattern_joined)
    results = refit(
        data,
        wildcards.model,
        chosen,
        params.options,
        fold_in=read_split_matrix(split, "test/fold_in"),
        held_out=read_split_matrix(split, "test/held_out"),
        models={wildcards.model: entry},
    )
    write_metrics(snakemake.output.metrics, wildcards.dataset, wildcards.model, results)
    tested, model = results[rank_of_table(params.rank, list(results))]
    write_model(
        snakemake.output.model,
        wildcards.model,
        model,
        read_items(split),
        {"rank": tested.rank, **tested.parameters, **solver_options(params.options)},
        digest,
        data.shares,
        read_treatment(split),
    )
