from lindrop.base.reporting import job
from lindrop.data.formats import read_interactions
from lindrop.data.interactions import TEST, TRAIN, VALIDATION, joined
from lindrop.data.provenance import verified_by_counts
from lindrop.store.interactions import write_interactions
from lindrop.store.receipt import read_receipt

PARTS = {"test": TEST, "validation": VALIDATION}

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}") as log:
    params, file = snakemake.params, snakemake.input.file
    files = {TRAIN: file} | {PARTS[part]: snakemake.input[part] for part in params.others}
    read = {}
    for part, path in files.items():
        read[part] = read_interactions(path, min_rating=params.min_rating, **params.layout)
        log.info("%s: kept %d of %d rows", path, len(read[part]), read[part].raw.rows)
    data = joined(read) if params.others else read[TRAIN]
    receipt = read_receipt(snakemake.input.source[0])
    source = verified_by_counts(receipt, data.raw, params.stated, file)
    columns = {role: params.layout.get(role) for role in ("user", "item", "rating")}
    source |= {role: name for role, name in columns.items() if name is not None}
    source["format"] = params.layout["format"]
    write_interactions(snakemake.output[0], data, source)
