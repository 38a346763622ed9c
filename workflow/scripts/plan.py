from pathlib import Path

from lindrop.base.reporting import job
from lindrop.planning.plan import planned

params = snakemake.params

with job(snakemake.log[0]):
    files = {name: found for name, found in params.files.items() if found}
    kept = Path(params.kept)
    whole = planned(snakemake.config, params.models, files, kept, papers=True)
    print("The whole run:\n" + whole.text())
    compared = planned(snakemake.config, params.compared, files, kept, tables=params.tables)
    print("\n`snakemake compare` alone:\n" + compared.summary())
    print(*(f"\n{told}" for told in params.told), sep="", flush=True)
