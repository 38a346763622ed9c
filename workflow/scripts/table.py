from importlib import import_module

from lindrop.base.reporting import job
from lindrop.output.tables import write_table

params = snakemake.params

with job(snakemake.log[0], code=[params.module]):
    module = import_module(params.module)
    data = module.data(**dict(snakemake.input.items()), **params.settings)
    caption = module.caption(data) if hasattr(module, "caption") else module.CAPTION
    write_table(module.table(data), snakemake.output, caption, module.shown(data))
