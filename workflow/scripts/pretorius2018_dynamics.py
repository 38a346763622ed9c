from lindrop.figures import save
from lindrop.pretorius2018.curve_checks import dynamics_checks
from lindrop.pretorius2018.curves import dynamics
from lindrop.pretorius2018.figures import draw_dynamics
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    table = dynamics(snakemake.params.seed)
    save(draw_dynamics(table), table, snakemake.output)
    write_checks(snakemake.output.checks, "pretorius2018", "dynamics", dynamics_checks(table))
