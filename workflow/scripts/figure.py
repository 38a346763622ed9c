from importlib import import_module

from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save

params, output = snakemake.params, snakemake.output

with job(snakemake.log[0], code=[params.module]):
    module = import_module(params.module)
    data = module.data(**dict(snakemake.input.items()), **params.settings)
    table = module.table(data) if hasattr(module, "table") else data
    save(module.draw(data), table, output)
    if output.get("checks"):
        write_checks(output.checks, module.checks(data), params.made_from)
