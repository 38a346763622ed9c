from lindrop.base.atomic import atomic
from lindrop.base.reporting import job
from lindrop.models.tuning import ranks_of, tune
from lindrop.ranking.grids import grid
from lindrop.store.split import read_split_matrix
from lindrop.store.training import read_training

wildcards, params = snakemake.wildcards, snakemake.params

with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    split = snakemake.input.split
    data = read_training(split, snakemake.input.gram, snakemake.input.spectrum, params.seed)
    trials = tune(
        data,
        wildcards.model,
        [grid(params.options)[point] for point in params.points],
        ranks_of(wildcards.model, params.rank, params.ranks, data),
        params.options,
        fold_in=read_split_matrix(split, "validation/fold_in"),
        held_out=read_split_matrix(split, "validation/held_out"),
    )
    with atomic(snakemake.output[0]) as partial:
        trials.to_csv(partial, index=False)
