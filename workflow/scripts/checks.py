from importlib import import_module

from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks

params = snakemake.params

with job(snakemake.log[0], code=params.modules):
    modules = map(import_module, params.modules)
    arguments = dict(snakemake.input.items()) | params.settings
    checks = [check for module in modules for check in module.checks(**arguments)]
    write_checks(snakemake.output[0], checks)
