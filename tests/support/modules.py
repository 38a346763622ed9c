"""Somebody's own workflow that uses this one as a module."""

import lindrop

TAG = f"v{lindrop.__version__}"
TARGETS = ["tables/steck2020_table1_datasets.html", "figures/dataset_long_tails.png"]
CONFIG = """
datasets:
  tiny:
    source: {format: synthetic, users: 400, items: 60, interactions: 6000}
    protocol: {heldout_users: 50}
  mine:
    source: {format: csv, path: my.csv, user: user, item: item}
    protocol: {heldout_users: 10}
"""
# Paths of its own: those of the module are below `ours`, those of the user are not.
SNAKEFILE = """
configfile: "config.yaml"

module lindrop:
    snakefile: {source}
    config: config
    prefix: "ours"

use rule * from lindrop as lindrop_*
"""


def check(project, command):
    """Make a table and a figure by renamed rules; the second time there is nothing to do."""
    targets = [f"ours/results/{target}" for target in TARGETS]
    output = project.ok(f"{command} --cores 2 {' '.join(targets)}")
    assert "rule lindrop_split:" in output
    for target in targets:
        assert project.path(target).stat().st_size > 500
    table = project.path("ours/results/tables/steck2020_table1_datasets.csv").read_text()
    assert "\nmine," in table
    assert "\ntiny," in table
    assert not project.path("results").exists()
    assert "Nothing to be done" in project.ok(f"{command} --cores 2 {' '.join(targets)}")
