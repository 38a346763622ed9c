from lindrop.base.reporting import job
from lindrop.papers.mianjy2018.convergence import convergence
from lindrop.store.curves import write_curves

with job(snakemake.log[0]):
    curves = convergence(**snakemake.params.settings)
    write_curves(snakemake.output[0], curves)
