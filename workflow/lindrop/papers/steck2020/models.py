"""Which models Table 1 and Figure 1 (left) show; imports little, since the rules read it."""

from lindrop.models.catalogue import TORCH

# every model of the table in its order, with the one that shows what it adds
TABLE = {
    "weight_decay": None,
    "product_l2": "weight_decay",
    "dropout_l2": "product_l2",
    "sampled_dropout": "dropout_l2",
    "edlae": "dropout_l2",
    "slim": None,
    "wmf": None,
    "cdae": None,
    "mult_vae": None,
    "mult_dae": None,
    "full_l2": None,
    "full_dlae": None,
    "ease": None,
    "full_edlae": "full_dlae",
    "popularity": None,
}
DEEP = TORCH  # by `make deep` alone
BASELINES = {model: other for model, other in TABLE.items() if model not in DEEP}

# every curve of the figure, with the full-rank model that it ends in
CURVES = {
    "edlae": "full_edlae",
    "zero_diagonal": "full_edlae",
    "zero_diagonal_l2": "ease",
    "dropout_l2": "full_dlae",
    "product_l2": "full_l2",
}
FIGURE_MODELS = sorted({*CURVES, *CURVES.values()})
