import pandas as pd

from lindrop.data.long_tails import draw_long_tails, long_tails
from lindrop.figures import save
from lindrop.reporting import job
from lindrop.store.split import read_split

with job(snakemake.log[0]):
    datasets = zip(snakemake.params.names, snakemake.input, strict=True)
    data = pd.concat([long_tails(name, read_split(file)) for name, file in datasets])
    save(draw_long_tails(data), data, snakemake.output)
