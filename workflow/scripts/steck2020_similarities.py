from types import SimpleNamespace

import pandas as pd

from lindrop.base.reporting import job
from lindrop.output.figures import save
from lindrop.papers.steck2020.similarity import draw_similarities, similarities
from lindrop.store.gram import read_gram
from lindrop.store.model import read_model

files, names = snakemake.input, snakemake.params.names
FIGURES = {
    "center": (files.constrained, True, "Eq. 11"),
    "right": (files.unconstrained, False, "unconstrained"),
}


def medians(name, low, full, gram, zero_diagonal):
    saved, full_rank = read_model(low), read_model(full)

    def gram_matrix():
        return read_gram(gram, saved.split_sha256).matrix

    return similarities(name, saved, full_rank, gram_matrix, zero_diagonal)


with job(snakemake.log[0]):
    for figure, (models, zero_diagonal, title) in FIGURES.items():
        datasets = zip(names, models, files.full, files.grams, strict=True)
        data = pd.concat([medians(*dataset, zero_diagonal) for dataset in datasets])
        ends = {end: snakemake.output[f"{figure}_{end}"] for end in ("pdf", "png", "csv")}
        save(draw_similarities(data, title), data, SimpleNamespace(**ends))
