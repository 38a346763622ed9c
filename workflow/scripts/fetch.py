from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, fetch
from lindrop.workflow.config import downloads

with job(snakemake.log[0]):
    known = downloads(snakemake.config)[snakemake.wildcards.file]
    expected = Expected(known.get("bytes"), known.get("sha256"), known.get("md5"))
    print(f"downloading {snakemake.output.file}; progress in {snakemake.log[0]}", flush=True)
    fetch(known["urls"], Path(snakemake.output.file), expected)
    # If this job fails, Snakemake keeps a file that existed before but deletes this note of the
    # address; the next run then repeats the job, so an old file never passes for the new address's
    Path(snakemake.output.url).write_text(known["url"] + "\n", encoding="utf-8")
