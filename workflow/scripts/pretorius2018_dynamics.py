from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pretorius2018.curve_checks import dynamics_checks
from lindrop.papers.pretorius2018.curves import dynamics
from lindrop.papers.pretorius2018.figures import draw_dynamics

with job(snakemake.log[0]):
    table = dynamics(snakemake.params.seed)
    save(draw_dynamics(table), table, snakemake.output)
    write_checks(snakemake.output.checks, "pretorius2018", "dynamics", dynamics_checks(table))
