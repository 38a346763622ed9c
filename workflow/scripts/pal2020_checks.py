from lindrop.pal2020.checks import all_checks
from lindrop.reporting import job
from lindrop.store.checks import write_all_checks

with job(snakemake.log[0]):
    write_all_checks(snakemake.output, "pal2020", all_checks(snakemake.params.seed))
