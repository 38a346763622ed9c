from lindrop.reporting import job
from lindrop.steck2020.checks import all_checks
from lindrop.store.checks import write_all_checks

with job(snakemake.log[0]):
    write_all_checks(snakemake.output, "steck2020", all_checks(snakemake.params.seed))
