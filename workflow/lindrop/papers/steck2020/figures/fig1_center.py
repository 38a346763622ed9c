"""Figure 1 (center) of Steck 2020: cosines of similar items under diag(UV') = 0 (Eq. 11).

The maps U → UR, V → VR⁻ᵀ keep UV' but change cosines, so the figure depends on the gauge. Figure 1
(right) uses the same functions for the unconstrained model.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lindrop.base.arrays import Matrix
from lindrop.base.errors import Unsolvable
from lindrop.claims.checks import Check, at_least, at_most
from lindrop.models.base import FullRankModel, LowRank
from lindrop.models.edlae.as_published import START_SCALE, quick_alternation
from lindrop.output.figures import COLOURS, WIDTH
from lindrop.papers.steck2020.datasets import FIGURE_SET, OTHER_SETS, Dataset
from lindrop.papers.steck2020.models import GAUGE_ITEMS
from lindrop.store.gram import read_gram
from lindrop.store.model import SavedModel, read_model

SIMILAR = 10
BLOCK_BYTES = 64 << 20  # memory of gathered embeddings, or of columns of B
PUBLISHED_EPOCHS = {False: 5, True: 10}  # epochs of the notebook, by whether diag(UV') = 0
BINS = np.linspace(-1.0, 1.0, 81)
BLUE, RED, *_ = COLOURS

PUBLISHED = "as the published updates end"
SOLVER = "as our solver ends"
BALANCED = "balanced"
REDUCED = 2 / 3  # ratio of medians below which cosines count as reduced
ORTHOGONAL, MANY = 0.1, 0.25  # cosine of nearly orthogonal items, and their least share


def data(
    low: Sequence[str], full: Sequence[str], grams: Sequence[str], names: Sequence[str]
) -> pd.DataFrame:
    """Median cosines of every item and dataset, from the files of models and of X'X."""
    return similarities_of(names, low, full, grams, zero_diagonal=True)


def draw(data: pd.DataFrame) -> Figure:
    """Histograms of median cosines, with a row per dataset and a column per gauge."""
    return draw_similarities(data, "Eq. 11")


def similar_items(b: Matrix) -> npt.NDArray[np.intp]:
    """The SIMILAR items with the largest values in each column of B: items × SIMILAR.

    As in the published code, B_ii is set to 1 first, so each item is among its own ten.
    """
    items = len(b)
    count = min(SIMILAR, items)
    found = np.empty((items, count), np.intp)
    for start, stop in _blocks(items, items * b.itemsize):
        columns = np.ascontiguousarray(b[:, start:stop].T)
        columns[np.arange(stop - start), np.arange(start, stop)] = 1.0
        found[start:stop] = np.argpartition(columns, items - count, axis=1)[:, items - count :]
    return found


def median_cosines(embeddings: Matrix, sets: npt.NDArray[np.intp]) -> Matrix:
    """Median of the cosines of all pairs of each set of items."""
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings / np.where(norms > 0, norms, 1)
    pairs = np.triu_indices(sets.shape[1], k=1)
    medians = np.empty(len(sets))
    for start, stop in _blocks(len(sets), sets.shape[1] * unit.shape[1] * unit.itemsize):
        gathered = unit[sets[start:stop]]
        cosines = gathered @ gathered.transpose(0, 2, 1)
        medians[start:stop] = np.median(cosines[:, pairs[0], pairs[1]], axis=1)
    return medians


def _blocks(total: int, bytes_each: int) -> list[tuple[int, int]]:
    """Ranges of rows that need at most BLOCK_BYTES each."""
    step = max(1, BLOCK_BYTES // bytes_each)
    return [(start, min(start + step, total)) for start in range(0, total, step)]


def gauges(
    saved: SavedModel, read_gram: Callable[[], Matrix], zero_diagonal: bool
) -> dict[str, LowRank]:
    """Two pairs U, V of the same product: as the alternating updates end, and balanced.

    The first pair depends on the start of the updates. They are the published updates from the
    notebook's random start if there are few enough items and the updates do not break down, which
    they do if the data have less rank than the model.
    """
    model, name = saved.fit.model, SOLVER
    assert isinstance(model, LowRank)
    if len(saved.items) <= GAUGE_ITEMS:
        ridge, rank = saved.parameters["lambda"], saved.parameters["rank"]
        with suppress(np.linalg.LinAlgError, Unsolvable):
            model, name = published_end(read_gram(), ridge, rank, zero_diagonal), PUBLISHED
    return {name: model, BALANCED: model.balanced()}


def published_end(gram: Matrix, ridge: float, rank: int, zero_diagonal: bool) -> LowRank:
    """U and V as the notebook leaves them after its last epoch.

    U belongs to the V before its last update.
    """
    start = np.random.RandomState(0).randn(rank, len(gram)).T * START_SCALE
    penalty = np.full(len(gram), float(ridge))
    updates = quick_alternation(gram.astype(float), penalty, start, zero_diagonal)
    epochs = PUBLISHED_EPOCHS[zero_diagonal]
    return LowRank(*next(islice(updates, epochs - 1, None)))


def similarities_of(
    names: Sequence[str],
    low: Sequence[str],
    full: Sequence[str],
    grams: Sequence[str],
    zero_diagonal: bool,
) -> pd.DataFrame:
    """Median cosines on every dataset, from the files of its models and of its X'X."""
    found = []
    for name, *files in zip(names, low, full, grams, strict=True):
        saved, full_rank = map(read_model, files[:2])
        read = partial(_read_matrix, files[2], saved.split_sha256)
        found.append(similarities(name, saved, full_rank, read, zero_diagonal))
    return pd.concat(found)


def _read_matrix(gram: str, split_sha256: str) -> Matrix:
    return read_gram(gram, split_sha256, room=True).matrix


def similarities(
    dataset: str,
    saved: SavedModel,
    full: SavedModel,
    read_gram: Callable[[], Matrix],
    zero_diagonal: bool,
) -> pd.DataFrame:
    """Median cosines of every item in both gauges; `full` is the full-rank EDLAE."""
    assert isinstance(full.fit.model, FullRankModel)
    sets = similar_items(full.fit.model.matrix)
    frames = [
        pd.DataFrame(
            {
                "dataset": dataset,
                "item": saved.items,
                "median_encoder": median_cosines(model.encoder, sets),
                "median_decoder": median_cosines(model.decoder, sets),
                "gauge": gauge,
            }
        )
        for gauge, model in gauges(saved, read_gram, zero_diagonal).items()
    ]
    return pd.concat(frames)


def cosine_checks(dataset: Dataset, center: pd.DataFrame, right: pd.DataFrame) -> list[Check]:
    """Checks of the cosines on one dataset, in every gauge.

    `center` and `right` are the dataset's lines of both csv files. The paper shows Netflix; on its
    other datasets the checks count for the sentence that they are similar.
    """
    checks = [
        check
        for gauge, constrained in center.groupby("gauge", sort=False)
        for check in _in_gauge(dataset, str(gauge), constrained, right[right["gauge"] == gauge])
    ]
    if dataset.paper in (None, FIGURE_SET):
        return checks
    return [replace(check, claim=OTHER_SETS) for check in checks]


def _in_gauge(
    dataset: Dataset, gauge: str, constrained: pd.DataFrame, free: pd.DataFrame
) -> list[Check]:
    """Checks of the cosines in one gauge."""
    at = f"{dataset.name}, {gauge}:"
    near = (constrained["median_encoder"].abs() <= ORTHOGONAL).mean()
    checks = [
        at_most(
            "fig1_cosines",
            f"{at} median cosine in the {part}, Eq. 11 over unconstrained",
            constrained[f"median_{part}"].median() / free[f"median_{part}"].median(),
            REDUCED,
            data=dataset.data,
        )
        for part in ("encoder", "decoder")
    ]
    what = f"{at} share of items with a median cosine up to {ORTHOGONAL:g} in the encoder"
    return [*checks, at_least("fig1_orthogonal", what, near, MANY, data=dataset.data)]


def draw_similarities(data: pd.DataFrame, of: str) -> Figure:
    """Histograms with a row per dataset and a column per gauge; `of` names the model."""
    datasets = list(data.groupby("dataset", sort=False))
    figure = Figure(figsize=(WIDTH, 0.3 + 1.9 * len(datasets)))
    axes = figure.subplots(len(datasets), 2, squeeze=False, sharex=True, sharey="row")
    for row, (name, items) in zip(axes, datasets, strict=True):
        for axis, (gauge, medians) in zip(row, items.groupby("gauge", sort=False), strict=True):
            _draw_histograms(axis, medians)
            axis.set_title(f"{name}, {of}: {gauge}", loc="left")
        row[0].set_ylabel("density of items")
    for axis in axes[-1]:
        axis.set_xlabel("median cosine of 10 similar items")
        axis.set_xlim(min(-0.05, data[["median_encoder", "median_decoder"]].min().min()), 1)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _draw_histograms(axis: Axes, medians: pd.DataFrame) -> None:
    shared: dict[str, Any] = {"bins": BINS, "density": True, "histtype": "step", "lw": 1.25}
    axis.hist(medians["median_encoder"], color=BLUE, label="encoder U", **shared)
    axis.hist(medians["median_decoder"], color=RED, ls="--", label="decoder V", **shared)
