from lindrop.pretorius2018.checks import all_checks
from lindrop.reporting import job
from lindrop.store.checks import write_all_checks

with job(snakemake.log[0]):
    write_all_checks(snakemake.output, "pretorius2018", all_checks(snakemake.params.seed))
