from lindrop.base.reporting import job
from lindrop.planning.limit import kept_to_budget
from lindrop.ranking.grids import usable_ranks
from lindrop.store.spectrum import write_spectrum
from lindrop.store.split import part_sha256
from lindrop.store.training import read_training

dataset = snakemake.wildcards.dataset

with (
    job(snakemake.log[0], f"dataset {dataset}"),
    kept_to_budget(dataset, "spectrum", snakemake.output, snakemake.log[0]),
):
    split, gram = snakemake.input
    part = snakemake.params.part
    data = read_training(split, gram, seed=snakemake.params.seed, part=part)
    rank = max(usable_ranks([*snakemake.params.ranks, snakemake.params.rank], data.largest_rank))
    write_spectrum(snakemake.output[0], data.top_spectrum(rank), part_sha256(split, part))
