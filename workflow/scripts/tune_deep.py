from pathlib import Path

from lindrop.base.reporting import job
from lindrop.models.tuning import tune
from lindrop.ranking.grids import grid
from lindrop.store.split import read_split_sha256
from lindrop.store.training import read_deep_training
from lindrop.store.trials import write_trials

wildcards, params = snakemake.wildcards, snakemake.params
output = Path(snakemake.output[0])
# not an output of the rule, so Snakemake does not delete it; fit_deep.py continues from it
checkpoint = output.with_suffix(".checkpoint")

with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    data = read_deep_training(
        *(snakemake.input.split, params.seed, checkpoint),
        *(params.metrics, params.criterion, params.part),
    )
    trials = tune(
        data,
        wildcards.model,
        [grid(params.options)[point] for point in params.points],
        [data.items],
        params.options,
        *data.validation,
    )
    write_trials(output, trials, wildcards.model, read_split_sha256(snakemake.input.split))
