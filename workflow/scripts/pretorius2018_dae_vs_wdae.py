from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.pretorius2018.curve_checks import dae_vs_wdae_checks
from lindrop.papers.pretorius2018.curves import dae_vs_wdae
from lindrop.papers.pretorius2018.figures import draw_dae_vs_wdae

with job(snakemake.log[0]):
    table = dae_vs_wdae()
    save(draw_dae_vs_wdae(table), table, snakemake.output)
    checks = dae_vs_wdae_checks(table)
    write_checks(snakemake.output.checks, "pretorius2018", "dae_vs_wdae", checks)
