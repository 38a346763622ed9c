import sys
from pathlib import Path

from lindrop.base.atomic import atomic
from lindrop.base.reporting import job
from lindrop.output.compare import data
from lindrop.output.so_far import text
from lindrop.store.left_out import LeftOut

params, wildcards = snakemake.params, snakemake.wildcards

with job(snakemake.log[0], f"dataset {wildcards.dataset}"):
    names = [wildcards.dataset]
    files, split = list(snakemake.input.metrics), [snakemake.input.split]
    try:
        lines = data(files, split, names, params.rank, [params.shown], params.shown)
        told = text(lines, params.shown, params.left)
    except LeftOut as error:
        told = str(error)
    with atomic(Path(snakemake.output[0])) as partial:
        partial.write_text(told + "\n", encoding="utf-8")
    print(told, file=sys.stderr, flush=True)
