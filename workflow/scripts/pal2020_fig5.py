from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pal2020.curve_checks import dropblock_checks
from lindrop.papers.pal2020.curves import MORE_KEEPS, dropblock_curves
from lindrop.papers.pal2020.figures import draw_dropblock

with job(snakemake.log[0]):
    params = snakemake.params
    curves = dropblock_curves(params.seed, MORE_KEEPS, iterations=params.iterations)
    save(draw_dropblock(curves), curves, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "fig5", dropblock_checks("fig5", curves))
