import pandas as pd

from lindrop.base.reporting import job
from lindrop.output.figures import save
from lindrop.papers.steck2020.theorem import deep_dropout_table, draw_theorem, theorem_curves

with job(snakemake.log[0]):
    curves = theorem_curves(snakemake.params.seed)
    deep = deep_dropout_table(snakemake.params.seed)
    panels = {"convergence": curves, "layers": deep}
    data = pd.concat(panels, names=["panel"]).reset_index("panel")
    save(draw_theorem(curves, deep), data.convert_dtypes(), snakemake.output)
