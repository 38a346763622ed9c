"""Every model: what it is called, which function fits it, and which options it has.

A model is one module with its fit, and one row here. The module is imported when the model is first
fitted: reading the catalogue needs neither compiled code nor PyTorch, and a change of one model's
module or row concerns no other model (workflow/rules/lineage.smk). The options of a row are what
the configuration accepts under `models` (lindrop.configuration.schema).
"""

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

from lindrop.base.blas_kernels import LARGEST_FACTORED
from lindrop.base.errors import UserError
from lindrop.models import memory
from lindrop.models.entry import Entry, Ranks
from lindrop.models.memory import Size
from lindrop.models.options import (
    BATCH,
    EPOCHS,
    HIDDEN,
    ITERATIONS,
    LAMBDA,
    LATENT,
    LEARNING_RATE,
    NEIGHBOURS,
    PATIENCE,
    SPREAD,
    TOLERANCE,
    USER_CAP,
    Option,
    P,
)

if TYPE_CHECKING:
    from lindrop.models.base import Fit, Training

DESCENT = Option(
    "`lbfgs` is quasi-Newton descent; `admm`, the corrected ADMM, takes several times longer and "
    "needs a smaller `tolerance` (1e-5).",
    "lbfgs",
    kind="string",
    choices=("lbfgs", "admm"),
)
CATALOGUE: Mapping[str, Entry] = {
    "popularity": Entry(
        "popularity",
        "closed_form:fit_popularity",
        "Items ranked by their number of training users.",
        memory=memory.popularity,
        gram=False,
    ),
    "weight_decay": Entry(
        "weight decay",
        "closed_form:fit_weight_decay",
        "Low-rank linear autoencoder with the penalty λ(‖U‖² + ‖V‖²) (Steck 2020, Table 1, row 1).",
        {"lambda": LAMBDA([3, 10, 30, 100, 300, 1000, 2000, 4000, 8000, 16000])},
        ranks=Ranks.LARGEST,
        memory=memory.closed_form,
    ),
    "product_l2": Entry(
        "L2 of the product",
        "closed_form:fit_product_l2",
        "Low-rank linear autoencoder with the penalty λ‖UV'‖² (Steck 2020, Table 1, row 2).",
        {"lambda": LAMBDA([3, 30, 300, 3000, 6000, 12000, 24000, 48000])},
        ranks=Ranks.LARGEST,
        memory=memory.closed_form,
    ),
    "dropout_l2": Entry(
        "dropout's L2 (DLAE)",
        "closed_form:fit_dropout_l2",
        "Low-rank linear autoencoder with the penalty that dropout amounts to on average "
        "(Steck 2020, Eq. 3; Table 1, row 3).",
        {"p": P([0.2, 0.35, 0.5, 0.65, 0.8]), "lambda": LAMBDA([1, 10, 100, 300, 1000, 5000])},
        ranks=Ranks.LARGEST,
        memory=memory.dropout_l2,
    ),
    "sampled_dropout": Entry(
        "DLAE, sampled dropout",
        "sampled:fit_sampled_dropout",
        "Low-rank linear autoencoder trained with sampled dropout (Steck 2020, Table 1, row 4). It "
        "is fitted at `rank` only, not at `ranks`.",
        {
            "p": P([0.5, 0.65, 0.8]),
            "lambda": LAMBDA([10]),
            "epochs": Option(
                "Largest number of passes over the training users.",
                1000,
                kind="integer",
                minimum=1,
            ),
            "tolerance": Option(
                "The training stops when the expected objective fell by at most this share since "
                "half of its epochs, which is about what more epochs would still gain.",
                2.0e-3,
                above=0,
            ),
        },
        ranks=Ranks.EACH,
        one_rank=True,
        memory=memory.sampled,
        gram=False,
    ),
    "edlae": Entry(
        "EDLAE",
        "edlae.fit:fit_edlae",
        "EDLAE, the low-rank denoising autoencoder that predicts each item from the other items "
        "alone (Steck 2020, Eq. 10; Table 1, row 5).",
        {
            "p": P([0.1, 0.2, 0.3, 0.45]),
            "lambda": LAMBDA([1, 10, 100, 300, 1000]),
            "solver": Option(
                "`lbfgs` is quasi-Newton descent, the fastest; `admm` is the corrected ADMM; `als` "
                "is exact alternating least squares, which takes twice the memory and suits a few "
                "thousand items at most. `lbfgs` and `als` never raise the objective; `admm` needs "
                "a smaller `tolerance` (3e-5).",
                "lbfgs",
                kind="string",
                choices=("lbfgs", "admm", "als"),
            ),
            "iterations": ITERATIONS(100),
            "tolerance": TOLERANCE(1.0e-4),
        },
        ranks=Ranks.EACH,
        memory=memory.admm,
    ),
    "slim": Entry(
        "SLIM",
        "slim:fit_slim",
        "SLIM, a sparse item-item matrix, a baseline in Table 1 of Steck 2020.",
        {
            "l1": Option(
                "Values of the l1 penalty (of the weights' absolute values) to search.",
                [0.3, 2, 15],
                minimum=0,
            ),
            "l2": Option(
                "Values of the ridge penalty to search, halved in the objective; greater than 0, "
                "so that the solution is unique.",
                [10, 100, 500],
                above=0,
            ),
            "nonnegative": Option(
                "Whether all weights must be at least 0, as published; a fit without this "
                "constraint takes longer.",
                True,
                kind="boolean",
            ),
            "largest": Option(
                "Number of largest weights that are kept of each item's column, as many published "
                "implementations do; 0 keeps all.",
                0,
                kind="integer",
                minimum=0,
            ),
            "tolerance": Option(
                "A column of the matrix is solved when none of its weights would change by more "
                "than this.",
                1e-4,
                above=0,
            ),
        },
        warm=True,
        memory=memory.slim,
    ),
    "wmf": Entry(
        "WMF",
        "wmf:fit_wmf",
        "WMF, weighted matrix factorisation, a baseline in Table 1 of Steck 2020.",
        {
            "factors": Option(
                "Numbers of factors per user and per item to search.",
                [32],
                kind="integer",
                minimum=1,
                below=LARGEST_FACTORED + 1,
            ),
            "lambda": LAMBDA([10, 50, 200]),
            "alpha": Option(
                "Values of α to search: an interaction has the weight 1 + α, a missing one has 1.",
                [0.25, 1, 4, 16],
                minimum=0,
            ),
            "sweeps": Option(
                "Numbers of sweeps of alternating least squares to search; a sweep updates all "
                "users, then all items.",
                [5],
                kind="integer",
                minimum=1,
            ),
        },
        memory=memory.wmf,
        gram=False,
    ),
    "cdae": Entry(
        "CDAE",
        "torch.cdae:fit_cdae",
        "CDAE, a deep baseline in Table 1 of Steck 2020, trained by `make deep` only. The defaults "
        "are one point and a smaller network than published, which train in minutes on the demo "
        "dataset; `config/paper.yaml` has the published settings.",
        {
            "p": P([0.5]),
            "lambda": LAMBDA([0.1]),
            "latent": LATENT(100),
            "epochs": EPOCHS(40),
            "patience": PATIENCE(5),
            "batch": BATCH(500),
            "learning_rate": LEARNING_RATE(0.001),
        },
        torch=True,
        memory=memory.network("cdae"),
    ),
    "mult_vae": Entry(
        "Mult-VAE",
        "torch.mult_vae:fit_mult_vae",
        "Mult-VAE, a deep baseline in Table 1 of Steck 2020, trained by `make deep` only. The "
        "defaults train in minutes on the demo dataset; `config/paper.yaml` has the published "
        "settings.",
        {
            "beta": Option("Largest weights of the divergence term to search.", [0.2], minimum=0),
            "p": P([0.5]),
            "lambda": LAMBDA([0]),
            "hidden": HIDDEN(300),
            "latent": LATENT(100),
            "anneal_steps": Option(
                "Number of batches in which the weight of the divergence term would grow from 0 to "
                "1; it stops growing at `beta`. With 0, the weight is `beta` from the start.",
                1000,
                kind="integer",
                minimum=0,
            ),
            "epochs": EPOCHS(50),
            "patience": PATIENCE(5),
            "batch": BATCH(500),
            "learning_rate": LEARNING_RATE(0.003),
        },
        torch=True,
        memory=memory.network("mult_vae"),
    ),
    "mult_dae": Entry(
        "Mult-DAE",
        "torch.mult_dae:fit_mult_dae",
        "Mult-DAE, a deep baseline in Table 1 of Steck 2020, trained by `make deep` only. The "
        "defaults train in minutes on the demo dataset; `config/paper.yaml` has the published "
        "settings.",
        {
            "p": P([0.5]),
            "lambda": LAMBDA([0.01]),
            "hidden": HIDDEN(0),
            "latent": LATENT(200),
            "epochs": EPOCHS(40),
            "patience": PATIENCE(5),
            "batch": BATCH(500),
            "learning_rate": LEARNING_RATE(0.001),
        },
        torch=True,
        memory=memory.network("mult_dae"),
    ),
    "zero_diagonal_l2": Entry(
        "zero diagonal, λI (Eq. 11)",
        "edlae.fit:fit_zero_diagonal",
        "Low-rank linear autoencoder with diag(UV') = 0 and the penalty λ‖UV'‖² (Steck 2020, "
        "Eq. 11 and the caption of Figure 1).",
        {
            "lambda": LAMBDA([3, 30, 100, 300, 1000, 3000, 10000, 30000]),
            "solver": DESCENT,
            "iterations": ITERATIONS(500),
            "tolerance": TOLERANCE(5.0e-5),
        },
        ranks=Ranks.EACH,
        fixed={"p": 0.0},
        memory=memory.admm,
    ),
    "zero_diagonal": Entry(
        "zero diagonal, Λ̃ (Eq. 11)",
        "edlae.fit:fit_zero_diagonal",
        "Low-rank linear autoencoder with diag(UV') = 0 and the penalty that dropout amounts to on "
        "average (Steck 2020, Eq. 11).",
        {
            "p": P([0.1, 0.2, 0.3, 0.45]),
            "lambda": LAMBDA([10, 100, 300, 1000]),
            "solver": DESCENT,
            "iterations": ITERATIONS(500),
            "tolerance": TOLERANCE(5.0e-5),
        },
        ranks=Ranks.EACH,
        memory=memory.admm,
    ),
    "full_l2": Entry(
        "full rank, λI",
        "full_rank:fit_dlae",
        "Full-rank linear autoencoder with the penalty λ‖B‖² and a free diagonal.",
        {"lambda": LAMBDA([3, 30, 300, 1000, 3000, 10000, 30000])},
        fixed={"p": 0.0},
    ),
    "full_dlae": Entry(
        "full-rank DLAE",
        "full_rank:fit_dlae",
        "Full-rank DLAE, a linear denoising autoencoder without emphasis (Steck 2020, Eq. 5).",
        {"p": P([0.2, 0.35, 0.5, 0.65]), "lambda": LAMBDA([1, 10, 100, 300, 1000, 3000])},
    ),
    "ease": Entry(
        "EASE (full-rank EDLAE, p = 0)",
        "full_rank:fit_edlae",
        "EASE, the full-rank EDLAE without dropout (p = 0).",
        {"lambda": LAMBDA([3, 30, 100, 300, 1000, 3000, 10000])},
        fixed={"p": 0.0},
    ),
    "full_edlae": Entry(
        "full-rank EDLAE",
        "full_rank:fit_edlae",
        "Full-rank EDLAE, which predicts each item from the other items alone (Steck 2020, Eq. 8 "
        "and 9).",
        {"p": P([0.1, 0.2, 0.35, 0.5]), "lambda": LAMBDA([1, 10, 30, 100, 300, 1000])},
    ),
    "sparse_edlae": Entry(
        "sparse EDLAE",
        "pattern.fit:fit_sparse_edlae",
        "Full-rank EDLAE with a limited number of neighbours per item, each column the exact "
        "optimum on its neighbours; for up to millions of items. It is fitted only where "
        "`compare.models` or a command names it.",
        {
            "neighbours": NEIGHBOURS([100]),
            "p": P([0.2, 0.5, 0.8]),
            "lambda": LAMBDA([3, 30, 100, 300]),
            "user_cap": USER_CAP(100),
            "spread": SPREAD(0.0),
        },
        memory=memory.pattern,
        gram=False,
        asked=True,
        scaled_by="neighbours",
        columns="pattern.fit:fit_columns",
    ),
    "sparse_ease": Entry(
        "sparse EASE (sparse EDLAE, p = 0)",
        "pattern.fit:fit_sparse_edlae",
        "EASE with a limited number of neighbours per item: `sparse_edlae` without dropout "
        "(p = 0). It is fitted only where `compare.models` or a command names it.",
        {
            "neighbours": NEIGHBOURS([100]),
            "lambda": LAMBDA([10, 30, 100, 300, 1000]),
            "user_cap": USER_CAP(100),
            "spread": SPREAD(0.0),
        },
        fixed={"p": 0.0},
        memory=memory.pattern,
        gram=False,
        asked=True,
        scaled_by="neighbours",
        columns="pattern.fit:fit_columns",
    ),
    "hybrid_edlae": Entry(
        "hybrid EDLAE (low rank + sparse)",
        "pattern.hybrid:fit_hybrid_edlae",
        "EDLAE with B = off(UV') + S: low rank and, beside it, a limited number of neighbours per "
        "item; in far fewer bytes than a dense model. It is fitted only where `compare.models` or "
        "a command names it.",
        {
            "factors": Option(
                "Numbers of columns of U and of V to search.",
                [50],
                kind="integer",
                minimum=1,
                below=LARGEST_FACTORED + 1,
            ),
            "neighbours": NEIGHBOURS([50]),
            "p": P([0.35, 0.5, 0.8]),
            "lambda": LAMBDA([10, 30, 100, 300]),
            "user_cap": USER_CAP(100),
            "spread": SPREAD(0.0),
            "iterations": ITERATIONS(20),
            "tolerance": TOLERANCE(1.0e-3),
        },
        memory=memory.hybrid,
        gram=False,
        asked=True,
        scaled_by="neighbours",
    ),
}
TORCH = {name: entry.title for name, entry in CATALOGUE.items() if entry.torch}


def fit(name: str, data: "Training", rank: int | None = None, **parameters: Any) -> "Fit":
    """Fit one model: `fit("edlae", Training.of(x), rank=100, p=0.3, ridge=100)`.

    λ may also be named `lambda`, as it is in the configuration and in the parameters of a saved
    model: `fit(saved.name, data, **saved.parameters)`.
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        raise UserError(f"no model {name!r}; the models are {', '.join(CATALOGUE)}")
    if "lambda" in parameters:
        if "ridge" in parameters:
            raise UserError(f"{name}: ridge and lambda are the same parameter; give one of them")
        parameters = {"ridge" if key == "lambda" else key: parameters[key] for key in parameters}
    entry = CATALOGUE[name]
    number = int(rank) if isinstance(rank, Integral) and not isinstance(rank, bool) else 0
    if entry.low_rank and not 0 < number < data.items:
        raise UserError(f"{name} needs a rank from 1 to {data.items - 1}, not {rank}")
    ranks = [number if entry.low_rank else data.items]
    entry.require_parameters(parameters)
    entry.require_memory(Size.of(data), ranks, **parameters)
    ((_, result),) = entry.fits(data, ranks, **parameters)
    from lindrop.models.base import is_zero  # NumPy, which readers of the catalogue do not need

    if is_zero(result.model, data.items):
        raise UserError(
            f"{entry.title}: the model is zero, so that all items tie: its penalty is too large, "
            "or no user has two items"
        )
    return result
