from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pretorius2018.curve_checks import weight_norms_checks
from lindrop.papers.pretorius2018.curves import weight_norms
from lindrop.papers.pretorius2018.figures import draw_weight_norms

with job(snakemake.log[0]):
    table = weight_norms(snakemake.params.seed)
    save(draw_weight_norms(table), table, snakemake.output)
    write_checks(
        snakemake.output.checks, "pretorius2018", "weight_norms", weight_norms_checks(table)
    )
