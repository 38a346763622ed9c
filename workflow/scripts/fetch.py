from pathlib import Path

from lindrop.config import downloads
from lindrop.data.fetch import Expected, fetch
from lindrop.reporting import job

with job(snakemake.log[0]):
    known = downloads(snakemake.config)[snakemake.wildcards.file]
    expected = Expected(known.get("bytes"), known.get("sha256"), known.get("md5"))
    print(f"downloading {snakemake.output[0]}; progress in {snakemake.log[0]}", flush=True)
    fetch(known["urls"], Path(snakemake.output[0]), expected)
