from lindrop.base.reporting import job
from lindrop.claims.check_files import write_all_checks
from lindrop.output.figures import save
from lindrop.papers.mianjy2018.convergence import averages
from lindrop.papers.mianjy2018.convergence_checks import convergence_checks
from lindrop.papers.mianjy2018.convergence_figure import draw_convergence
from lindrop.store.curves import read_curves

with job(snakemake.log[0]):
    curves = read_curves(snakemake.input[0])
    save(draw_convergence(curves), averages(curves), snakemake.output)
    write_all_checks(snakemake.output.checks, "mianjy2018", convergence_checks(curves))
