from lindrop.figures import save
from lindrop.pal2020.curve_checks import dropblock_checks
from lindrop.pal2020.curves import MORE_KEEPS, dropblock_curves
from lindrop.pal2020.figures import draw_dropblock
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    params = snakemake.params
    curves = dropblock_curves(params.seed, MORE_KEEPS, iterations=params.iterations)
    save(draw_dropblock(curves), curves, snakemake.output)
    write_checks(snakemake.output.checks, "pal2020", "fig5", dropblock_checks("fig5", curves))
