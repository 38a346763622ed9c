from lindrop.base.reporting import job
from lindrop.output.figures import save
from lindrop.papers.pal2020.curves import scheme_matrices
from lindrop.papers.pal2020.figures import draw_schemes

with job(snakemake.log[0]):
    matrices = scheme_matrices(snakemake.params.seed)
    save(draw_schemes(matrices), matrices, snakemake.output)
