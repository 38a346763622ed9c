from lindrop.base.reporting import job
from lindrop.models.tuning import ranks_of, tune
from lindrop.ranking.grids import grid
from lindrop.store.split import read_split_matrix, read_split_sha256
from lindrop.store.training import read_training
from lindrop.store.trials import write_trials

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
    write_trials(snakemake.output[0], trials, wildcards.model, read_split_sha256(split))
