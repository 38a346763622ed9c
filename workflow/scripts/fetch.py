from dataclasses import asdict
from pathlib import Path

from lindrop.base.reporting import job
from lindrop.configuration.config import downloads
from lindrop.data.fetch import Expected, fetch
from lindrop.store.receipt import write_note

with job(snakemake.log[0]):
    known = downloads(snakemake.config)[snakemake.wildcards.file]
    expected = Expected(known.get("bytes"), known.get("sha256"), known.get("md5"))
    print(f"downloading {snakemake.output.file}; progress in {snakemake.log[0]}", flush=True)
    delivery = fetch(known["urls"], Path(snakemake.output.file), expected)
    # If this job fails, Snakemake keeps a file that existed before but deletes this note of the
    # address; the next run then repeats the job, so an old file never passes for the new address's
    write_note(snakemake.output.url, known["url"], asdict(delivery) if delivery else None)
