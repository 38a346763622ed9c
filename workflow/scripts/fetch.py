from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.fetch import Expected, fetch
from lindrop.workflow.config import downloads

with job(snakemake.log[0]):
    known = downloads(snakemake.config)[snakemake.wildcards.file]
    expected = Expected(known.get("bytes"), known.get("sha256"), known.get("md5"))
    print(f"downloading {snakemake.output.file}; progress in {snakemake.log[0]}", flush=True)
    fetch(known["urls"], Path(snakemake.output.file), expected)
    # Snakemake keeps a file that was there before when this job fails, but not this note, which the
    # next run misses: an old file never passes for that of a new address
    Path(snakemake.output.url).write_text(known["url"] + "\n", encoding="utf-8")
