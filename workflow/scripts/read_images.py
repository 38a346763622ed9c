from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, receipt
from lindrop.data.images import read_published
from lindrop.store.images import write_images

name = snakemake.wildcards.images
with job(snakemake.log[0], f"images {name}"):
    files = {part: Path(snakemake.input[part]) for part in snakemake.params.expected}
    facts = {
        part: receipt(file, Expected(**snakemake.params.expected[part]))
        for part, file in files.items()
    }
    write_images(snakemake.output[0], *read_published(name, files), facts)
