from lindrop.base.reporting import job
from lindrop.output.figures import save
from lindrop.papers.steck2020.solvers import Comparison, draw_solvers
from lindrop.store.gram import read_gram

with job(snakemake.log[0]):
    data = Comparison(read_gram(snakemake.input[0]).matrix).curves()
    save(draw_solvers(data), data, snakemake.output)
