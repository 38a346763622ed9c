from pathlib import Path

import pandas as pd

from lindrop.base.reporting import job
from lindrop.output.figures import save
from lindrop.papers.steck2020.ranks import curves, draw_ranks
from lindrop.store.metrics import read_metrics

with job(snakemake.log[0]):
    found = {}
    for file in map(Path, snakemake.input):
        found.setdefault(file.parent.name, {})[file.stem] = read_metrics(file)
    data = pd.concat([curves(name, found[name]) for name in snakemake.params.names])
    save(draw_ranks(data), data, snakemake.output)
