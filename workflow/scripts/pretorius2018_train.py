from pathlib import Path

from lindrop.base.reporting import job
from lindrop.papers.pretorius2018.image_sets import read_image_set
from lindrop.papers.pretorius2018.networks import network, source_of, train
from lindrop.store.training_run import write_run

wildcards, params = snakemake.wildcards, snakemake.params
output = Path(snakemake.output[0])
checkpoint = output.with_suffix(".checkpoint.h5")  # Snakemake knows nothing of it: it stays

with job(snakemake.log[0], f"{wildcards.images}, {wildcards.activation} {wildcards.kind}"):
    images = read_image_set(snakemake.input[0])
    net = network(wildcards.activation, wildcards.kind, params.settings, params.seed)
    source = source_of(images, wildcards.kind, net, params.code)
    write_run(output, train(images, net, checkpoint, source), source)
    checkpoint.unlink(missing_ok=True)
