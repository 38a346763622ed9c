"""Configurations that run in seconds, and what a run says."""

import csv
import re

from support.repository import REPOSITORY

GENERATED = REPOSITORY / "tests" / "generated"
TABLE = "results/tables/steck2020_table1_datasets"
SMALL = """
datasets:
  small:
    source: {format: synthetic, preset: demo, users: 400, items: 60, interactions: 6000}
    protocol: {heldout_users: 50}
"""
QUICK = """
mianjy2018: {runs: 1}
pal2020: {iterations: 100}
pretorius2018:
  synthetic:
    count: 60
    side: 6
    network: {hidden: 8, rate: 0.5, epochs: 20, every: 5, noise: 2.0, decay: 0.003}
    linear: {hidden: 8, rate: 0.01, epochs: 200, variance: 0.1, decay: 0.1}
"""  # experiments, for tests that run everything
MINE = (
    QUICK
    + """
datasets:
  mine:
    source: {format: csv, path: my.csv, user: user_id, item: product}
    protocol: {heldout_users: 50}
ranks: [2, 5, 10]
rank: 5
gram_shards: 3
models:
  edlae: {p: [0.1, 0.2, 0.3, 0.4], lambda: [1, 3, 10, 30, 100, 300, 1000, 3000]}
tuning: grid
points_per_job: 30
compare: {budget: null}
"""
)  # everything, on a csv file that the test writes
TUNE = "snakemake %s --cores 5 results/tuning/mine/ease/0.csv --configfile config/mine.yaml"
RATINGS = """
datasets:
  ratings:
    %s
    source: {format: movielens, %s}
    protocol: {min_rating: 3.5, min_user_interactions: 3, min_item_users: 2, heldout_users: 12}
"""


def rows(project):
    with project.path(f"{TABLE}.csv").open() as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


def errors(output):
    """The different error lines of a run; each is repeated at the end with the place of its log."""
    lines = [line for line in output.splitlines() if line.startswith("lindrop: error:")]
    return {line.partition(" (log: ")[0] for line in lines}


def rules_run(output):
    return re.findall(r"^(?:local)?rule (\w+):", output, re.MULTILINE)


def threads_of_tuning(output):
    """Cores that a planned run of `TUNE` gives to the job."""
    (job,) = re.findall(r"rule tune:\n((?: .*\n)*)", output)
    asked = re.search(r"threads: (\d+)", job)
    return int(asked[1]) if asked else 1
