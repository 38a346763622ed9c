from lindrop.base.memory import require_memory
from lindrop.base.reporting import job
from lindrop.base.stopwatch import Stopwatch
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import MARGIN, Size, pattern_columns
from lindrop.models.tuning import parameters, ranks_of
from lindrop.planning.limit import FIT, kept_to_budget
from lindrop.ranking.grids import axes
from lindrop.store.columns import write_columns
from lindrop.store.split import read_split_sha256
from lindrop.store.training import read_training
from lindrop.store.trials import read_choice

wildcards, params = snakemake.wildcards, snakemake.params
model, options = wildcards.model, params.options

with (
    job(snakemake.log[0], f"dataset {wildcards.dataset}, model {model}"),
    kept_to_budget(wildcards.dataset, model, snakemake.output, snakemake.log[0], FIT),
):
    split = snakemake.input.split
    digest, entry = read_split_sha256(split), CATALOGUE[model]
    data = read_training(split, seed=params.seed, light=True)
    chosen = read_choice(
        snakemake.input.trials,
        options,
        ranks_of(model, params.rank, params.ranks, data),
        params.criterion,
        model,
        digest,
        params.tuning == "grid",
    )
    point = {axis: float(chosen[axis].iloc[0]) for axis in axes(options)}
    given = parameters(point, options)
    ends = [data.items * shard // params.shards for shard in (params.shard, params.shard + 1)]
    columns = range(*ends)
    needed = MARGIN * pattern_columns(Size.of(data), len(columns), given)
    require_memory(needed, f"fitting {len(columns):,} columns of {entry.title}")
    watch = Stopwatch()
    block = entry.fit_columns(data, columns, **given)
    given = entry.complete(given)  # the parameters that a fit of all columns records
    write_columns(snakemake.output[0], model, block, columns, given, digest, watch.cost())
