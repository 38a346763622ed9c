from pathlib import Path

from lindrop.data.fetch import Expected, receipt
from lindrop.reporting import job
from lindrop.store import write_json

with job(snakemake.log[0]):
    params = snakemake.params
    expected = Expected(params.bytes, params.sha256, params.md5)
    write_json(snakemake.output[0], receipt(Path(snakemake.input.file), expected))
