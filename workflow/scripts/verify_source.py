from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, receipt
from lindrop.store.receipt import read_note, write_receipt

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}"):
    expected = Expected(**snakemake.params.expected)
    note = snakemake.input.get("url")  # none of a local file
    delivery = read_note(note) if note else None
    facts = receipt(Path(snakemake.input.file), expected, delivery)
    write_receipt(snakemake.output[0], facts)
