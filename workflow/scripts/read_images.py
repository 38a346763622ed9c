from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, receipt
from lindrop.data.images import read_published
from lindrop.store.images import write_images
from lindrop.store.receipt import read_note

name = snakemake.wildcards.images
with job(snakemake.log[0], f"images {name}"):
    files = {part: Path(snakemake.input[part]) for part in snakemake.params.expected}
    notes = {part: snakemake.input.get(f"{part}_url") for part in files}  # none of local files
    facts = {
        part: receipt(
            file,
            Expected(**snakemake.params.expected[part]),
            read_note(notes[part]) if notes[part] else None,
        )
        for part, file in files.items()
    }
    write_images(snakemake.output[0], *read_published(name, files), facts)
