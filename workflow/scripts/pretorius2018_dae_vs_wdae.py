from lindrop.figures import save
from lindrop.pretorius2018.curve_checks import dae_vs_wdae_checks
from lindrop.pretorius2018.curves import dae_vs_wdae
from lindrop.pretorius2018.figures import draw_dae_vs_wdae
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    table = dae_vs_wdae()
    save(draw_dae_vs_wdae(table), table, snakemake.output)
    checks = dae_vs_wdae_checks(table)
    write_checks(snakemake.output.checks, "pretorius2018", "dae_vs_wdae", checks)
