from lindrop.mianjy2018.checks import all_checks
from lindrop.reporting import job
from lindrop.store.checks import write_all_checks

with job(snakemake.log[0]):
    write_all_checks(snakemake.output, "mianjy2018", all_checks(snakemake.params.seed))
