"""The deep experiment, run for real where PyTorch is installed (`make .venv/ready-deep`)."""

import pandas as pd
import pytest
from configurations import SMALL, rules_run
from test_workflow_images import IMAGES, write_idx

from lindrop.store.checks import read_checks

DEEP = """
pal2020:
  deep: {images: [mnist], count: 10, iterations: 3, draws: 2}
"""
RUN = "snakemake --cores 2 deep --configfile config/deep.yaml"


def test_the_deep_figure_from_images_to_checks(project):
    pytest.importorskip("torch", reason="needs PyTorch, see requirements-deep.in")
    write_idx(project.folder, 12)
    config = SMALL + IMAGES % ("path", "images.gz", "path", "labels.gz") + DEEP
    project.write("config/deep.yaml", config)
    output = project.ok(RUN)
    assert sorted(rules_run(output)) == ["deep", "pal2020_fig2", "pal2020_train", "read_images"]
    data = pd.read_csv(project.path("results/figures/pal2020_fig2.csv"))
    assert (data["panel"] == "objective").sum() == 4
    checks = read_checks(project.path("results/experiments/pal2020/fig2.json"))
    assert checks[0].holds, "no iterate is below the bound"
    assert not list(project.path("results/experiments/pal2020/deep").glob("*.checkpoint"))
    assert "Nothing to be done" in project.ok(RUN)
