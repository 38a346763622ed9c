"""What a run of synthetic data makes again after a change of a setting or a module."""

import pytest

from support.configurations import SMALL, rows, rules_run
from support.project import Project
from support.repository import copy_project

RUN_SMALL = "snakemake --cores 2 %s --configfile config/small.yaml"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Synthetic data, split and described; a test that changes it makes a copy."""
    project = Project(copy_project(tmp_path_factory.mktemp("small")))
    project.write("config/small.yaml", SMALL)
    project.ok(RUN_SMALL % "data")
    return project


def test_a_configuration_given_by_hand_replaces_the_default(small):
    assert set(rows(small)) == {"small"}


def test_the_seed_decides_the_synthetic_data(small, tmp_path):
    project, split = small.copy(tmp_path), "results/data/small/split.h5"
    contents = [project.path(split).read_bytes()]
    for seed in (2, 1):
        project.ok(f"{RUN_SMALL % split} --config seed={seed}")
        contents.append(project.path(split).read_bytes())
    assert contents[0] == contents[2] != contents[1]


def test_settings_that_swap_their_values_have_changed(small, tmp_path):
    """Snakemake compares parameters as a set of values, which a swap leaves as it was."""
    project, curves = small.copy(tmp_path), "results/experiments/mianjy2018/convergence.csv"
    run = RUN_SMALL % curves + " --config seed=%d mianjy2018='{runs: %d}'"
    project.ok(run % (2, 1))
    assert rules_run(project.ok(run % (1, 2) + " -n")) == ["mianjy2018_convergence"]


def test_a_changed_module_reruns_the_rules_that_use_it(small, tmp_path):
    project = small.copy(tmp_path)
    change(project, "lindrop/output/tables.py")
    assert set(rules_run(project.ok(RUN_SMALL % "data"))) == {"steck2020_table1_datasets", "data"}
    change(project, "lindrop/data/split.py")
    assert "split" in rules_run(project.ok(RUN_SMALL % "data"))


def change(project, module):
    with project.path(f"workflow/{module}").open("a") as file:
        file.write("\nCHANGED = True\n")
