"""Every model: what it is called, where Table 1 of Steck 2020 has it, and which function fits it.

A model is one module with its fit, and one row here. The module is imported when the model is first
fitted: reading the catalogue needs neither compiled code nor PyTorch, and a change of one model's
module or row concerns no other model (workflow/rules/lineage.smk).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lindrop.base.errors import UserError
from lindrop.models.entry import Entry, Ranks

if TYPE_CHECKING:
    from lindrop.models.base import Fit, Training

CATALOGUE: Mapping[str, Entry] = {
    "popularity": Entry("popularity", "popularity:fit_popularity", dense=False),
    "weight_decay": Entry("weight decay", "closed_form:fit_weight_decay", Ranks.LARGEST, row="1"),
    "product_l2": Entry("L2 of the product", "closed_form:fit_product_l2", Ranks.LARGEST, row="2"),
    "dropout_l2": Entry(
        "dropout's L2 (DLAE)", "closed_form:fit_dropout_l2", Ranks.LARGEST, row="3"
    ),
    "sampled_dropout": Entry(
        "DLAE, sampled dropout",
        "sampled:fit_sampled_dropout",
        Ranks.EACH,
        row="4",
        table_only=True,
        dense=False,
    ),
    "edlae": Entry("EDLAE", "edlae.fit:fit_edlae", Ranks.EACH, row="5"),
    "slim": Entry("SLIM", "slim.fit:fit_slim", row="baseline", warm=True),
    "wmf": Entry("WMF", "wmf.fit:fit_wmf", row="baseline", dense=False),
    "cdae": Entry("CDAE", "torch.fit:fit_cdae", row="baseline", dense=False, torch=True),
    "mult_vae": Entry(
        "Mult-VAE", "torch.fit:fit_mult_vae", row="baseline", dense=False, torch=True
    ),
    "mult_dae": Entry(
        "Mult-DAE", "torch.fit:fit_mult_dae", row="baseline", dense=False, torch=True
    ),
    "zero_diagonal_l2": Entry(
        "zero diagonal, λI (Eq. 11)", "edlae.fit:fit_zero_diagonal", Ranks.EACH, fixed={"p": 0.0}
    ),
    "zero_diagonal": Entry("zero diagonal, Λ̃ (Eq. 11)", "edlae.fit:fit_zero_diagonal", Ranks.EACH),
    "full_l2": Entry("full rank, λI", "full_rank:fit_dlae", fixed={"p": 0.0}),
    "full_dlae": Entry("full-rank DLAE", "full_rank:fit_dlae"),
    "ease": Entry("EASE (full-rank EDLAE, p = 0)", "full_rank:fit_edlae", fixed={"p": 0.0}),
    "full_edlae": Entry("full-rank EDLAE", "full_rank:fit_edlae"),
}
TORCH = {name: entry.title for name, entry in CATALOGUE.items() if entry.torch}


def fit(name: str, data: "Training", rank: int | None = None, **parameters: Any) -> "Fit":
    """Fit one model: `fit("edlae", Training.of(x), rank=100, p=0.3, ridge=100)`."""
    if name not in CATALOGUE:
        raise UserError(f"no model {name!r}; the models are {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    if entry.low_rank and not (rank is not None and 0 < rank < data.items):
        raise UserError(f"{name} needs a rank from 1 to {data.items - 1}, not {rank}")
    ranks = [rank if entry.low_rank and rank else data.items]
    entry.require_memory(data.items, ranks, **parameters)
    try:
        ((_, result),) = entry.fits(data, ranks, **parameters)
    except TypeError as error:  # a parameter that is missing or not its own
        raise UserError(f"{name}: {error}") from error
    return result
