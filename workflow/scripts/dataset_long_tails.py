import pandas as pd

from lindrop.base.reporting import job
from lindrop.data.long_tails import draw_long_tails, long_tails
from lindrop.output.figures import save
from lindrop.store.split import read_split

with job(snakemake.log[0]):
    datasets = zip(snakemake.params.names, snakemake.input, strict=True)
    data = pd.concat([long_tails(name, read_split(file)) for name, file in datasets])
    save(draw_long_tails(data), data, snakemake.output)
