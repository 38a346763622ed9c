from pathlib import Path

from lindrop.errors import UserError
from lindrop.grids import grid
from lindrop.reporting import job
from lindrop.store.atomic import atomic
from lindrop.store.training import read_deep_training
from lindrop.tuning import tune

wildcards, params = snakemake.wildcards, snakemake.params
output = Path(snakemake.output[0])
# unknown to Snakemake: it stays, also when all is done, so that the chosen point is trained once
checkpoint = output.with_suffix(".checkpoint")

with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    try:
        from lindrop.models.deep.entries import DEEP
    except ModuleNotFoundError as error:
        raise UserError("PyTorch is not installed: run `make deep`") from error
    data = read_deep_training(snakemake.input.split, params.seed, checkpoint)
    trials = tune(
        data,
        wildcards.model,
        [grid(params.options)[point] for point in params.points],
        [data.items],
        params.options,
        *data.validation,
        models=DEEP,
    )
    with atomic(output) as partial:
        trials.to_csv(partial, index=False)
