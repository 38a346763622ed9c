"""SLIM, Mult-VAE, Mult-DAE and CDAE of lindrop and of RecBole, on the same split and metrics.

    python3.11 -m venv .venv-recbole
    .venv-recbole/bin/pip install --require-hashes -r requirements-deep.txt
    .venv-recbole/bin/pip install -r requirements-deep.in
    .venv-recbole/bin/pip install --require-hashes -r benchmarks/peers/environments/recbole.lock
    OMP_NUM_THREADS=1 PYTHONPATH=workflow .venv-recbole/bin/python benchmarks/beside_recbole.py \\
        ml-100k.zip 1 2 3 4 5 [--only SLIM]

RecBole's own protocol ranks items for users that it has trained on. Here its models, loader and
trainer see the training users of lindrop's split only. Both libraries train for the same number of
epochs with the same hyper-parameters, and score the validation users from their fold-in after every
epoch; the epoch with the best nDCG@100 is tested. Writes benchmarks/results/recbole.csv: means over
the given seeds, their standard errors, and the difference of RecBole to lindrop for every metric
(nDCG@100 first), in standard errors of the difference.

RecBole is changed from outside as follows:
- Names that NumPy 2 removed, and that RecBole reads, are restored.
- Its Mult-VAE samples with a hundredth of the standard deviation that the encoder gives, which does
  not fit the divergence in the objective. It is run as it is (`as shipped`) and with the full one.
- Its CDAE has no vector for a held-out user: the mean of all vectors is used, as in lindrop.
lindrop is run with settings that RecBole has: CDAE uses the logistic cost over all zeros and no
penalty (RecBole's penalty is the norm, not its square). Initial weights are normal in RecBole and
uniform in lindrop, with the same variance.

SLIM is convex and not trained by epochs; a seed only changes the order of RecBole's descent. Its
difference is therefore given in standard errors of the paired difference over test users.
"""

import argparse
import contextlib
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.model.general_recommender import CDAE, MultiDAE, MultiVAE, SLIMElastic
from recbole.trainer import Trainer
from recbole.utils import init_seed

from lindrop.data.formats import read_interactions
from lindrop.data.split import Protocol, Split, split
from lindrop.models.base import FullRank, Training, Validation
from lindrop.models.slim import fit_slim
from lindrop.models.torch.cdae import fit_cdae
from lindrop.models.torch.mult_dae import fit_mult_dae
from lindrop.models.torch.mult_vae import fit_mult_vae
from lindrop.ranking.evaluation import Model, evaluate, paired, summary
from lindrop.ranking.metrics import CRITERION
from lindrop.ranking.metrics import DEFAULT as METRICS

OUTPUT = Path(__file__).resolve().parent / "results" / "recbole.csv"
EPOCHS, BATCH, LATENT, HIDDEN, P = 100, 100, 200, 600, 0.5
BETA, ANNEAL_STEPS = 0.2, 3000
RIDGE = 0.01  # ridge of Mult-DAE; Adam's weight decay is 2 RIDGE / BATCH
SLIM = {"alpha": 0.2, "l1_ratio": 0.02, "positive_only": True, "hide_item": True}  # RecBole's
NAME = "split"
OFF = "off by standard errors"

GONE = {"float_": np.float64, "complex_": np.complex128, "unicode_": np.str_}  # not in NumPy 2

Means = pd.Series
COMMON: dict[str, Any] = {
    "USER_ID_FIELD": "user",
    "ITEM_ID_FIELD": "item",
    "load_col": {"inter": ["user", "item"]},
    "eval_args": {"split": {"RS": [1, 0, 0]}, "order": "RO", "group_by": None, "mode": "full"},
    "train_neg_sample_args": None,
    "train_batch_size": BATCH,
    "learning_rate": 1e-3,
    "use_gpu": False,
    "data_path": ".",
    "show_progress": False,
    "state": "ERROR",
}
VAE = {
    "mlp_hidden_size": [HIDDEN],
    "latent_dimension": 2 * LATENT,  # mean and log variance together
    "dropout_prob": P,
    "anneal_cap": BETA,
    "total_anneal_steps": ANNEAL_STEPS,
}
DAE = {
    "mlp_hidden_size": [],
    "latent_dimension": LATENT,
    "dropout_prob": P,
    "weight_decay": 2 * RIDGE / BATCH,
}
CDAE_OPTIONS = {
    "loss_type": "BCE",
    "hid_activation": "tanh",
    "out_activation": "sigmoid",
    "embedding_size": LATENT,
    "corruption_ratio": P,
    "reg_weight_1": 0.0,
    "reg_weight_2": 0.0,
}


class WholeNoise(MultiVAE):
    """RecBole's Mult-VAE with samples from the Gaussian whose divergence is in its objective."""

    def reparameterize(self, mu, logvar):
        """Sample of the latent variables; the mean when not training."""
        if not self.training:
            return mu
        return mu + torch.randn_like(mu) * torch.exp(logvar / 2)


WholeNoise.__name__ = MultiVAE.__name__  # RecBole goes by this name to make batches of users


def logits_of_vae(model, x):
    """Logits of RecBole's Mult-VAE for dense rows X."""
    return model.forward(x)[0]


def logits_of_dae(model, x):
    """Logits of RecBole's Mult-DAE for dense rows X."""
    return model.forward(x)


def logits_of_cdae(model, x):
    """Logits of RecBole's CDAE for dense rows X of held-out users, with the mean user vector."""
    vectors = model.h_user.weight[1:]  # row 0 is padding
    return model.out_layer(model.h_act(model.h_item(x) + vectors.mean(0)))


class Scored:
    """A model of RecBole with the interface of lindrop's evaluation.

    `columns` maps item numbers of lindrop to those of RecBole.
    """

    def __init__(self, model, logits: Callable[..., torch.Tensor], columns: np.ndarray):
        self.model, self.logits, self.columns = model, logits, columns

    def scores(self, x: sp.csr_array) -> np.ndarray:
        """Scores of users with rows X, users × items, in lindrop's order of items."""
        rows = torch.zeros(x.shape[0], self.model.n_items)
        rows[:, self.columns] = torch.from_numpy(x.toarray().astype(np.float32))
        with torch.no_grad():
            return self.logits(self.model.eval(), rows).numpy()[:, self.columns]


def means(model: Model, parts: Split, part: str) -> Means:
    """Mean of every metric over the users of a part (`validation` or `test`)."""
    found = evaluate(model, parts.matrix(f"{part}/fold_in"), parts.matrix(f"{part}/held_out"))
    return summary(found.per_user)["mean"]


def read_by_recbole(parts: Split, model: type, options: dict[str, Any], seed: int):
    """RecBole's configuration, its loader of the training data, and its numbers of the items."""
    Path(NAME).mkdir(exist_ok=True)
    rows = pd.DataFrame({"user:token": parts.train.uid, "item:token": parts.train.sid})
    rows.to_csv(Path(NAME) / f"{NAME}.inter", sep="\t", index=False)
    config = Config(model=model, dataset=NAME, config_dict=COMMON | options | {"seed": seed})
    init_seed(seed, reproducibility=True)
    loader, *_ = data_preparation(config, create_dataset(config))
    tokens = [str(item) for item in range(len(parts.items))]
    return config, loader, loader.dataset.token2id("item", tokens)


def trained_by_recbole(
    parts: Split, kind: type, options: dict[str, Any], logits: Callable, seed: int
) -> Means:
    """Test metrics of a model of RecBole at the epoch with the best validation nDCG@100."""
    config, loader, columns = read_by_recbole(parts, kind, options, seed)
    model = kind(config, loader.dataset)
    trainer = Trainer(config, model)
    scored, best, found = Scored(model, logits, columns), -np.inf, Means(dtype=float)
    for epoch in range(EPOCHS):
        trainer._train_epoch(loader, epoch)
        validated = means(scored, parts, "validation")[CRITERION]
        if validated > best:
            best, found = validated, means(scored, parts, "test")
    return found


def slim_of_us(parts: Split) -> np.ndarray:
    """Matrix B of lindrop's SLIM with RecBole's penalties.

    RecBole divides the squared error by its number of users, which includes a padding user.
    """
    data = Training.of(parts.matrix("train"))
    users = data.x.shape[0] + 1
    l1 = users * SLIM["alpha"] * SLIM["l1_ratio"]
    l2 = users * SLIM["alpha"] * (1 - SLIM["l1_ratio"])
    fit = fit_slim(data, l1, l2, SLIM["positive_only"])
    return fit.model.matrix.toarray()


def slim_of_recbole(parts: Split, seed: int) -> np.ndarray:
    """Matrix B of RecBole's SLIM, in lindrop's order of items."""
    config, loader, columns = read_by_recbole(parts, SLIMElastic, SLIM, seed)
    np.random.seed(seed)
    similarity = SLIMElastic(config, loader.dataset).item_similarity.toarray()
    return similarity[np.ix_(columns, columns)]


def slim_table(parts: Split, seeds: Sequence[int]) -> pd.DataFrame:
    """Rows of results for SLIM, in the form of `shown`; ends if RecBole's seeds disagree."""
    ours, *theirs = slim_of_us(parts), *(slim_of_recbole(parts, seed) for seed in seeds)
    print("SLIM: weights differ by", [f"{abs(ours - b).max():.1e}" for b in theirs], flush=True)
    test = parts.matrix("test/fold_in"), parts.matrix("test/held_out")
    a, *others = (evaluate(FullRank(b.astype(np.float32)), *test).per_user for b in (ours, *theirs))
    metrics = np.mean([summary(b)["mean"] for b in others], axis=0)
    if np.ptp([summary(b)["mean"] for b in others], axis=0).max() > 5e-5:
        raise SystemExit("RecBole's SLIM depends on its seed")
    difference = paired(others[0], a)
    off = ", ".join(f"{d:+.1f}" for d in difference["mean"] / difference["stderr"])
    rows = [("lindrop", "", summary(a)["mean"], ""), ("RecBole", len(theirs), metrics, off)]
    return pd.DataFrame(
        [
            {"model": "SLIM", "by": by, "seeds": count}
            | {metric: f"{mean:.4f}" for metric, mean in zip(METRICS, means, strict=True)}
            | {OFF: errors}
            for by, count, means, errors in rows
        ]
    )


def trained_by_us(parts: Split, train: Callable, seed: int, **options: Any) -> Means:
    """Test metrics of a deep model of lindrop at the epoch with the best validation nDCG@100."""
    users = Validation(parts.matrix("validation/fold_in"), parts.matrix("validation/held_out"))
    data = replace(Training.of(parts.matrix("train"), seed), validation=users)
    settings = {"epochs": EPOCHS, "patience": EPOCHS, "batch": BATCH, "threads": 1}
    fit = train(data, latent=LATENT, p=P, **settings, **options)
    return means(fit.model, parts, "test")


def runs(parts: Split) -> Iterator[tuple[str, str, Callable[[int], Means]]]:
    """Name of every model, its library, and a function from a seed to its test metrics."""
    vae = {"beta": BETA, "anneal_steps": ANNEAL_STEPS, "hidden": HIDDEN}
    cdae = {"cost": "logistic", "negatives": len(parts.items), "ridge": 0.0}

    def of_recbole(*how: Any) -> Callable[[int], Means]:
        return lambda seed: trained_by_recbole(parts, *how, seed)

    def of_us(train: Callable, **options: Any) -> Callable[[int], Means]:
        return lambda seed: trained_by_us(parts, train, seed, **options)

    yield "Mult-DAE", "lindrop", of_us(fit_mult_dae, hidden=0, ridge=RIDGE)
    yield "Mult-DAE", "RecBole", of_recbole(MultiDAE, DAE, logits_of_dae)
    yield "CDAE", "lindrop", of_us(fit_cdae, **cdae)
    yield "CDAE", "RecBole", of_recbole(CDAE, CDAE_OPTIONS, logits_of_cdae)
    yield "Mult-VAE", "lindrop", of_us(fit_mult_vae, **vae)
    yield "Mult-VAE", "RecBole", of_recbole(WholeNoise, VAE, logits_of_vae)
    yield "Mult-VAE", "RecBole as shipped", of_recbole(MultiVAE, VAE, logits_of_vae)


def over_seeds(found: pd.DataFrame) -> dict[str, float]:
    """Mean of every metric over the seeds, and its standard error."""
    errors = found.std(ddof=1) / np.sqrt(len(found))
    return found.mean().to_dict() | {f"se {metric}": errors[metric] for metric in METRICS}


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Table of means ± standard errors, and the differences to lindrop in standard errors."""
    ours = table[table["by"] == "lindrop"].set_index("model").reindex(table["model"])
    columns = {name: table[name] for name in ("model", "by", "seeds")}
    off = []
    for metric in METRICS:
        mean, error = table[metric], table[f"se {metric}"]
        columns[metric] = [f"{m:.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True)]
        of_difference = np.hypot(error, ours[f"se {metric}"].to_numpy())
        off.append((mean - ours[metric].to_numpy()) / of_difference)
    beside = table["by"].ne("lindrop") & off[0].notna()
    columns[OFF] = [
        ", ".join(f"{each:+.1f}" for each in row) if has else ""
        for has, row in zip(beside, zip(*off, strict=True), strict=True)
    ]
    return pd.DataFrame(columns)


def main(asked: argparse.Namespace) -> None:
    vars(np).update(GONE)
    warnings.filterwarnings("ignore", module="recbole")
    logging.getLogger().setLevel(logging.ERROR)
    torch.set_num_threads(1)
    ratings = read_interactions(asked.path, "movielens", min_rating=3.5)
    parts = split(ratings, Protocol(heldout_users=100, min_rating=3.5, min_user_interactions=5))
    rows, slim = [], pd.DataFrame()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # RecBole writes here
        for model, by, run in runs(parts):
            if model in asked.only or not asked.only:
                found = pd.DataFrame([run(seed) for seed in asked.seeds])
                rows.append({"model": model, "by": by, "seeds": len(found), **over_seeds(found)})
                print(rows[-1], flush=True)
        if "SLIM" in asked.only or not asked.only:
            slim = slim_table(parts, asked.seeds)
    table = pd.concat([shown(pd.DataFrame(rows)) if rows else slim[:0], slim])
    if asked.only:
        old = pd.read_csv(OUTPUT, keep_default_na=False)
        table = pd.concat([old[~old["model"].isin(asked.only)], table])
    table.to_csv(OUTPUT, index=False)
    print(table.to_markdown(index=False))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", type=Path, help="ml-100k.zip")
    parser.add_argument("seeds", nargs="+", type=int)
    parser.add_argument("--only", nargs="+", default=[], help="models; others stay as they are")
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
