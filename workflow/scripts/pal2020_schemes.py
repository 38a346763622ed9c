from lindrop.figures import save
from lindrop.pal2020.curves import scheme_matrices
from lindrop.pal2020.figures import draw_schemes
from lindrop.reporting import job

with job(snakemake.log[0]):
    matrices = scheme_matrices(snakemake.params.seed)
    save(draw_schemes(matrices), matrices, snakemake.output)
