import pandas as pd

from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pal2020.deep import deep_checks, draw_deep
from lindrop.store.curves import read_curves

with job(snakemake.log[0]):
    table = pd.concat(map(read_curves, snakemake.input), ignore_index=True)
    save(draw_deep(table), table, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "fig2", deep_checks(table))
