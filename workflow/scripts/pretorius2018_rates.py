import pandas as pd

from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pretorius2018.curve_checks import rates_checks
from lindrop.papers.pretorius2018.curves import rate_curves, rate_table
from lindrop.papers.pretorius2018.figures import draw_rates

with job(snakemake.log[0]):
    curves, rates = rate_curves(), rate_table()
    panels = {"trajectories": curves, "rates": rates}
    data = pd.concat(panels, names=["panels"]).reset_index("panels")
    save(draw_rates(curves, rates), data.convert_dtypes(), snakemake.output)
    checks = rates_checks(curves, rates)
    write_checks(snakemake.output.checks, "pretorius2018", "rates", checks)
