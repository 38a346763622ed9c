from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, receipt
from lindrop.store.receipt import read_note, write_receipt

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}"):
    expected = Expected(**snakemake.params.expected)
    note = snakemake.input.get("url")  # none of a local file
    delivery = read_note(note) if note else None
    packed = snakemake.params.packed
    facts = receipt(Path(snakemake.input.file), expected, delivery, "file" in packed)
    for part, stated in snakemake.params.others.items():
        note = snakemake.input.get(f"{part}_url")
        delivery = read_note(note) if note else None
        facts[part] = receipt(
            Path(snakemake.input[part]), Expected(**stated), delivery, part in packed
        )
    write_receipt(snakemake.output[0], facts)
