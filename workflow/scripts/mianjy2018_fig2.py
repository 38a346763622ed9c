from lindrop.base.reporting import job
from lindrop.claims.check_files import write_checks
from lindrop.output.figures import save
from lindrop.papers.mianjy2018.landscape_checks import trace_checks
from lindrop.papers.mianjy2018.landscapes import draw_traces, traces

with job(snakemake.log[0]):
    data = traces(snakemake.params.seed)
    save(draw_traces(data), data, snakemake.output)
    write_checks(snakemake.output.checks, "mianjy2018", "fig2", trace_checks(data))
