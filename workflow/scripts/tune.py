from lindrop.grids import grid
from lindrop.reporting import job
from lindrop.store.atomic import atomic
from lindrop.store.split import read_split_matrix
from lindrop.store.training import read_training
from lindrop.tuning import ranks_of, tune

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
