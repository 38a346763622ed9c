from lindrop.figures import save
from lindrop.pretorius2018.curve_checks import weight_norms_checks
from lindrop.pretorius2018.curves import weight_norms
from lindrop.pretorius2018.figures import draw_weight_norms
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    table = weight_norms(snakemake.params.seed)
    save(draw_weight_norms(table), table, snakemake.output)
    write_checks(
        snakemake.output.checks, "pretorius2018", "weight_norms", weight_norms_checks(table)
    )
