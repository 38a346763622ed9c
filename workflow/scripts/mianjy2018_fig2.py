from lindrop.figures import save
from lindrop.mianjy2018.landscape_checks import trace_checks
from lindrop.mianjy2018.landscapes import draw_traces, traces
from lindrop.reporting import job
from lindrop.store.checks import write_checks

with job(snakemake.log[0]):
    data = traces(snakemake.params.seed)
    save(draw_traces(data), data, snakemake.output)
    write_checks(snakemake.output.checks, "mianjy2018", "fig2", trace_checks(data))
