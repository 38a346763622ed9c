from lindrop.base.reporting import job
from lindrop.models.tuning import choose, only_choice, ranks_of, refit
from lindrop.ranking.grids import rank_of_table
from lindrop.store.metrics import write_metrics
from lindrop.store.model import write_model
from lindrop.store.split import read_items, read_split_matrix, read_split_sha256
from lindrop.store.training import read_training
from lindrop.store.trials import read_trials

wildcards, params = snakemake.wildcards, snakemake.params

with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    split = snakemake.input.split
    digest = read_split_sha256(split)
    data = read_training(
        split,
        snakemake.input.gram or None,
        snakemake.input.spectrum or None,
        params.seed,
        params.metrics,
    )
    trials, criterion = snakemake.input.trials, params.criterion
    chosen = (
        choose(
            read_trials(
                trials,
                params.options,
                [criterion],
                wildcards.model,
                digest,
                params.tuning == "grid",
            ),
            params.options,
            criterion,
        )
        if trials
        else only_choice(params.options, ranks_of(wildcards.model, params.rank, params.ranks, data))
    )
    results = refit(
        data,
        wildcards.model,
        chosen,
        params.options,
        fold_in=read_split_matrix(split, "test/fold_in"),
        held_out=read_split_matrix(split, "test/held_out"),
    )
    write_metrics(snakemake.output.metrics, wildcards.dataset, wildcards.model, results)
    tested, model = results[rank_of_table(params.rank, list(results))]
    write_model(
        snakemake.output.model,
        wildcards.model,
        model,
        read_items(split),
        {"rank": tested.rank, **tested.parameters},
        digest,
        data.shares,
    )
