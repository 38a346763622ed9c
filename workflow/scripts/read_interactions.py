from lindrop.data.formats import read_interactions
from lindrop.data.provenance import verified_by_counts
from lindrop.reporting import job
from lindrop.store import read_json, write_interactions

with job(snakemake.log[0]) as log:
    params, file = snakemake.params, snakemake.input.file
    columns = {
        name: params[name] for name in ("user", "item", "rating") if params[name] is not None
    }
    data = read_interactions(file, params.format, min_rating=params.min_rating, **columns)
    log.info("%s: kept %d of %d rows", file, len(data), data.raw.rows)
    stated = {name: params[f"n_{name}"] for name in ("rows", "users", "items")}
    source = verified_by_counts(read_json(snakemake.input.source[0]), data.raw, stated, file)
    write_interactions(snakemake.output[0], data, source | {"format": params.format})
