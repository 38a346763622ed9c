from lindrop.base.reporting import job
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.search import search
from lindrop.models.tuning import ranks_of, tune
from lindrop.planning.limit import kept_to_budget
from lindrop.ranking.grids import grid, rank_of_table
from lindrop.store.split import read_split_matrix, read_split_sha256
from lindrop.store.training import read_training
from lindrop.store.trials import write_trials

wildcards, params = snakemake.wildcards, snakemake.params
model, options = wildcards.model, params.options

with (
    job(snakemake.log[0], f"dataset {wildcards.dataset}, model {model}"),
    kept_to_budget(wildcards.dataset, model, snakemake.output, snakemake.log[0]),
):
    split = snakemake.input.split
    data = read_training(
        *(split, snakemake.input.gram or None, snakemake.input.spectrum or None),
        *(params.seed, params.metrics, params.part),
        light=not CATALOGUE[model].gram,
    )
    users = [read_split_matrix(split, f"validation/{part}") for part in ("fold_in", "held_out")]
    ranks = ranks_of(model, params.rank, params.ranks, data)
    if params.tuning == "search":
        first = rank_of_table(params.rank, ranks)
        trials = search(data, model, first, ranks, options, *users, params.criterion)
    else:
        points = [grid(options)[point] for point in params.points]
        trials = tune(data, model, points, ranks, options, *users)
    write_trials(snakemake.output[0], trials, model, read_split_sha256(split))
