import pandas as pd

from lindrop.figures import save
from lindrop.pretorius2018.curve_checks import rates_checks
from lindrop.pretorius2018.curves import rate_curves, rate_table
from lindrop.pretorius2018.figures import draw_rates
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    curves, rates = rate_curves(), rate_table()
    panels = {"trajectories": curves, "rates": rates}
    data = pd.concat(panels, names=["panels"]).reset_index("panels")
    save(draw_rates(curves, rates), data.convert_dtypes(), snakemake.output)
    checks = rates_checks(curves, rates)
    write_checks(snakemake.output.checks, "pretorius2018", "rates", checks)
