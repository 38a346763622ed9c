from lindrop.base.reporting import job
from lindrop.linalg.gram import gram_triangle, user_shards
from lindrop.planning.limit import kept_to_budget
from lindrop.store.gram import Provenance, add_shards, write_gram
from lindrop.store.split import part_sha256, read_split_matrix

dataset = snakemake.wildcards.dataset

with (
    job(snakemake.log[0], f"dataset {dataset}"),
    kept_to_budget(dataset, "gram", snakemake.output, snakemake.log[0]),
):
    part = snakemake.params.part
    digest = part_sha256(snakemake.input.split, part)
    x = read_split_matrix(snakemake.input.split, part)
    if shards := snakemake.input.get("shards"):
        gram, provenance = add_shards(shards, digest, x.shape[0])
    else:
        users = user_shards(x.shape[0], snakemake.params.shards)[snakemake.params.shard]
        x = x[users.start : users.stop]
        gram = gram_triangle(x)
        provenance = Provenance(dataset, digest, users.start, users.stop - 1, x.nnz)
    write_gram(snakemake.output[0], gram, provenance)
