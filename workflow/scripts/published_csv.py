from pathlib import Path

from lindrop.base.reporting import job
from lindrop.data.published_csv import write_published_csv
from lindrop.store.split import read_split

with job(snakemake.log[0], f"dataset {snakemake.wildcards.dataset}"):
    folder = Path(snakemake.output[0])
    folder.mkdir(parents=True, exist_ok=True)
    write_published_csv(read_split(snakemake.input[0]), folder)
