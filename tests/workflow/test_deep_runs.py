"""What `make deep` makes, run for real where PyTorch is installed (`make .venv/ready-deep`)."""

import re
import time

import numpy as np
import pandas as pd
import pytest

from lindrop.base.stopwatch import Cost
from lindrop.claims.check_files import read_checks
from lindrop.models import tuning
from lindrop.models.base import Fit
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import job_bytes
from lindrop.models.torch.memory import training_bytes
from lindrop.papers.steck2020.models import DEEP, FITTED
from lindrop.store.metrics import read_metrics, write_metrics
from lindrop.store.model import read_model
from lindrop.store.split import read_size
from support.configurations import SMALL, rules_run
from support.images import IMAGES, write_idx
from support.killed import kill_at
from support.project import Project
from support.repository import copy_project

CONFIG = (
    SMALL
    + IMAGES % ("path", "images.gz", "path", "labels.gz")
    + """
pal2020:
  deep: {images: [mnist], count: 10, iterations: 3, draws: 2}
rank: 5
models:
  cdae: {latent: 8, epochs: 6, batch: 50}
  mult_vae: {beta: [0.1, 0.4], hidden: 12, latent: 8, epochs: 6, batch: 50}
  mult_dae: {latent: 8, epochs: 6, batch: 50, learning_rate: 0.01}
"""
)
RUN = "snakemake --cores 2 %s --configfile config/deep.yaml"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What `deep` leaves of tiny data, with a checkpoint after every epoch."""
    pytest.importorskip("torch", reason="needs PyTorch: make .venv/ready-deep")
    project = Project(copy_project(tmp_path_factory.mktemp("trained")), real=True)
    training = project.path("workflow/lindrop/models/torch/training.py")
    training.write_text(training.read_text().replace("SAVED_SECONDS = 5.0", "SAVED_SECONDS = 0.0"))
    project.env["OMP_WAIT_POLICY"] = "passive"  # as `make deep` sets it
    write_idx(project.folder, 12)
    project.write("config/deep.yaml", CONFIG)
    began = time.monotonic()
    project.first_output = project.ok(RUN % "deep")
    project.seconds = time.monotonic() - began
    return project


def test_the_models_can_be_trained_without_the_figure(project):
    write_idx(project.folder, 12)
    project.write("config/deep.yaml", CONFIG)
    alone, all_of_it = (project.ok(f"{RUN % target} -n") for target in ("deep_models", "deep"))
    models = {"generate_interactions", "split", "tune_deep", "fit_deep"}
    assert set(rules_run(alone)) == models | {"deep_models"}
    assert set(rules_run(all_of_it)) >= models | {"pal2020_train", "pal2020_fig2"}


def test_the_deep_figure_from_images_to_checks(trained):
    data = pd.read_csv(trained.path("results/figures/pal2020_fig2.csv"))
    assert (data["panel"] == "objective").sum() == 4
    checks = read_checks(trained.path("results/experiments/pal2020/fig2.json"))
    assert checks[0].holds, "no iterate is below the bound"


def test_a_grid_is_tuned_and_one_point_is_not(trained):
    jobs = rules_run(trained.first_output)
    assert (jobs.count("tune_deep"), jobs.count("fit_deep")) == (2, 3)
    assert {"gram", "spectrum", "tune", "fit"}.isdisjoint(jobs)
    assert not list(trained.path("results").rglob("*.checkpoint"))
    assert "Nothing to be done" in trained.ok(RUN % "deep")


def write_the_other_metrics(project):
    per_user = next(iter(metrics(project, "cdae").values())).per_user * 0 + 0.25
    other = tuning.Tested(5, {}, "", True, per_user, Cost(1.0, 100.0))
    for model in FITTED:
        file = project.path(f"results/metrics/small/{model}.h5")
        write_metrics(file, "small", model, {5: (other, Fit(None))})


def metrics(project, model):
    return read_metrics(project.path(f"results/metrics/small/{model}.h5"))


def test_the_table_shows_those_that_were_trained_as_configured(trained):
    write_the_other_metrics(trained)
    table = f"{RUN % 'results/tables/steck2020_table1.csv'} --allowed-rules steck2020_table1"
    trained.ok(table)
    rows = deep_rows(trained)
    assert set(rows["model"]) == set(DEEP)
    assert rows["mean"].between(0.05, 1).all()
    assert (rows.loc[rows["metric"] == "ndcg@100", "stderr"] > 0).all()
    assert rows["seconds"].between(0, trained.seconds, inclusive="neither").all()
    assert rows["megabytes"].between(100, 5000).all()
    (vae,) = rows.loc[rows["model"] == "mult_vae", "params"].unique()
    assert "beta=0.1" in vae or "beta=0.4" in vae
    for model in DEEP:
        ((_, tested),) = metrics(trained, model).items()
        expected = tested.per_user.mean().to_dict()
        found = rows[rows["model"] == model].set_index("metric")["mean"]
        assert found.to_dict() == pytest.approx({name: expected[name] for name in found.index})

    trained.write("config/deep.yaml", CONFIG.replace("[0.1, 0.4]", "[0.1, 0.3]"))
    trained.ok(table)
    trained.write("config/deep.yaml", CONFIG)
    rows = deep_rows(trained)
    assert set(rows.loc[rows["params"] == "not fitted: make deep", "model"]) == {"mult_vae"}


def deep_rows(project):
    rows = pd.read_csv(project.path("results/tables/steck2020_table1.csv"))
    return rows[rows["model"].isin(DEEP)]


@pytest.mark.parametrize("hidden", [0, 3000])
def test_a_job_asks_for_the_memory_of_its_network(trained, hidden):
    """The request is that of the fit, with Python, PyTorch, the data, and Snakemake itself."""
    changed = CONFIG.replace("hidden: 12, latent: 8", f"hidden: {hidden}, latent: 2000")
    trained.write("config/deep.yaml", changed)
    planned = trained.ok(f"{RUN % 'deep_models'} -n")
    trained.write("config/deep.yaml", CONFIG)
    jobs = re.findall(r"^rule tune_deep:(?:\n .*)+", planned, re.MULTILINE)
    asked = [int(re.search(r"mem_mb=(\d+)", job)[1]) for job in jobs if "mult_vae" in job]
    size = read_size(trained.path("results/data/small/split.h5"))
    options = {"batch": 50, "latent": 2000, "hidden": hidden}
    needed = CATALOGUE["mult_vae"].needed_bytes(size, [], **options)
    assert needed >= training_bytes("mult_vae", 60, size.users, 50, 2000, hidden)
    job = job_bytes(size, needed, deep=True)
    assert asked
    of_snakemake = np.array(asked) - job / 1e6  # which may grow from one request to the next
    assert ((of_snakemake >= 50) & (of_snakemake <= 300)).all()


def test_the_chosen_point_is_trained_once(trained):
    """Its final training is the one of its tuning; bit by bit what it would be made anew."""
    chosen = checkpoint_of_the_chosen(trained)
    log = trained.path("results/logs/fit_deep/small/mult_vae.log").read_text()
    assert f"{chosen}: 6 epochs are done" in log
    ((_, tested),) = metrics(trained, "mult_vae").items()
    model, file = (
        trained.path(f"results/{kind}/small/mult_vae.h5") for kind in ("models", "metrics")
    )
    before = read_model(model).fit
    for each in (model, file):
        each.unlink()
    assert set(rules_run(trained.ok(RUN % "deep_models"))) == {"fit_deep", "deep_models"}
    log = trained.path("results/logs/fit_deep/small/mult_vae.log").read_text()
    assert "epochs are done" not in log, "nothing is left of its tuning"
    same(read_model(model).fit, before)
    ((_, again),) = metrics(trained, "mult_vae").items()
    np.testing.assert_array_equal(again.per_user, tested.per_user)


def checkpoint_of_the_chosen(project):
    ((_, tested),) = metrics(project, "mult_vae").items()
    number = [0.1, 0.4].index(tested.parameters["beta"])
    return f"results/tuning/small/mult_vae/{number}.checkpoint"


def same(one, other):
    assert one.history == other.history
    for name, part in one.model.parts().items():
        np.testing.assert_array_equal(part, other.model.parts()[name])


@pytest.mark.parametrize("name", ["mult_dae", "mult_vae"])
def test_a_killed_training_goes_on_in_the_next_run(trained, name):
    """A single point has its checkpoint beside the model, a chosen one where its tuning was."""
    alone = f"results/models/small/{name}.checkpoint"
    file = checkpoint_of_the_chosen(trained) if name == "mult_vae" else alone
    model = trained.path(f"results/models/small/{name}.h5")
    before = read_model(model).fit
    for each in (model, trained.path(f"results/metrics/small/{name}.h5")):
        each.unlink()
    hidden = f"/.{file.rpartition('/')[2]}"
    kill_at([hidden], "everything", trained, RUN % "deep", occasion=4)
    assert not model.exists()
    trained.ok("snakemake --unlock --configfile config/deep.yaml")
    trained.ok(RUN % "deep")
    log = trained.path(f"results/logs/fit_deep/small/{name}.log").read_text()
    assert f"{file}: 3 epochs are done" in log
    same(read_model(model).fit, before)
    assert not list(trained.path("results").rglob("*.checkpoint"))
