from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pal2020.curve_checks import overlap_checks
from lindrop.papers.pal2020.curves import overlap_curves
from lindrop.papers.pal2020.figures import draw_overlap

with job(snakemake.log[0]):
    params = snakemake.params
    curves = overlap_curves(params.seed, iterations=params.iterations)
    save(draw_overlap(curves), curves, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "fig4", overlap_checks(curves))
