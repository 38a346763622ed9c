from pathlib import Path

import pandas as pd

from lindrop.errors import UserError
from lindrop.reporting import job
from lindrop.store.metrics import write_metrics
from lindrop.store.model import write_model
from lindrop.store.split import read_items, read_split_matrix, read_split_sha256
from lindrop.store.training import read_deep_training
from lindrop.tuning import choose, only_choice, refit

wildcards, params = snakemake.wildcards, snakemake.params
split, output = snakemake.input.split, snakemake.output
checkpoint = Path(output.model).with_suffix(".checkpoint")  # unknown to Snakemake: it stays

with job(snakemake.log[0], f"dataset {wildcards.dataset}, model {wildcards.model}"):
    try:
        from lindrop.models.deep.entries import DEEP
    except ModuleNotFoundError as error:
        raise UserError("PyTorch is not installed: run `make deep`") from error
    data = read_deep_training(split, params.seed, checkpoint)
    chosen = (
        choose(pd.concat(map(pd.read_csv, snakemake.input.trials)), params.options)
        if snakemake.input.trials
        else only_choice(params.options, [data.items])
    )
    results = refit(
        data,
        wildcards.model,
        chosen,
        params.options,
        fold_in=read_split_matrix(split, "test/fold_in"),
        held_out=read_split_matrix(split, "test/held_out"),
        models=DEEP,
    )
    ((tested, model),) = results.values()
    write_metrics(output.metrics, wildcards.dataset, wildcards.model, results, params.state)
    write_model(
        output.model,
        wildcards.model,
        model,
        read_items(split),
        tested.parameters,
        read_split_sha256(split),
    )
    checkpoint.unlink(missing_ok=True)
