from lindrop.figures import save
from lindrop.mianjy2018.landscape_checks import surface_checks
from lindrop.mianjy2018.landscapes import draw_surfaces, surfaces
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    data = surfaces()
    save(draw_surfaces(data), data, snakemake.output)
    write_checks(snakemake.output.checks, "mianjy2018", "fig1", surface_checks(data))
