from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, receipt
from lindrop.store.receipt import write_receipt

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}"):
    expected = Expected(**snakemake.params.expected)
    write_receipt(snakemake.output[0], receipt(Path(snakemake.input.file), expected))
