from pathlib import Path

from lindrop.data.fetch import Expected, fetch
from lindrop.reporting import job

with job(snakemake.log[0]):
    params = snakemake.params
    expected = Expected(params.bytes, params.sha256, params.md5)
    fetch(params.urls, Path(snakemake.output[0]), expected)
