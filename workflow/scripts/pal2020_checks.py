from lindrop.base.reporting import job
from lindrop.claims.check_files import write_all_checks
from lindrop.papers.pal2020.checks import all_checks

with job(snakemake.log[0]):
    write_all_checks(snakemake.output, "pal2020", all_checks(snakemake.params.seed))
