from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.mianjy2018.landscape_checks import surface_checks
from lindrop.papers.mianjy2018.landscapes import draw_surfaces, surfaces

with job(snakemake.log[0]):
    data = surfaces()
    save(draw_surfaces(data), data, snakemake.output)
    write_checks(snakemake.output.checks, "mianjy2018", "fig1", surface_checks(data))
