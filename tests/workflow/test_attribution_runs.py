"""The target that trains rows 1 to 5 of Table 1 as published, from a configuration to a figure."""

import pandas as pd

from lindrop.claims.check_files import read_checks
from support.configurations import SMALL, rules_run

SETTINGS = SMALL + "rank: 8\nranks: [8]\nsteck2020: {splits: 2}\n"
RUN = "snakemake --cores 2 attribution --configfile config/small.yaml"
MODELS = "results/experiments/steck2020/attribution/small"


def test_attribution_runs_on_every_split_and_only_when_it_is_asked_for(project):
    project.write("config/small.yaml", SETTINGS)
    planned = project.ok("snakemake -n --cores 2 steck2020 --configfile config/small.yaml")
    assert not {rule for rule in rules_run(planned) if "attribution" in rule}
    project.ok(RUN)
    figure = pd.read_csv(project.path("results/figures/steck2020_attribution.csv"))
    assert set(figure["dataset"]) == {"small"}
    assert (figure.loc[figure["quantity"] == "gain", "splits"] == 2).all()
    assert {file.name for file in project.path(MODELS).glob("*.csv")} == {
        *(f"{part}-{number}.csv" for part in ("split", "users") for number in (0, 1)),
        *(f"row-{row}.csv" for row in range(1, 6)),
    }
    users = [pd.read_csv(project.path(f"{MODELS}/users-{number}.csv")) for number in (0, 1)]
    assert not set(users[0]["user"]) >= set(users[1]["user"])
    checks = read_checks(project.path("results/experiments/steck2020/attribution.json"))
    assert {check.claim for check in checks} == {
        "attribution",
        "attribution_exact",
        "attribution_printed",
    }
    assert {check.data for check in checks} == {"synthetic"}
    assert not rules_run(project.ok(f"{RUN} -n"))
    project.write("config/small.yaml", SETTINGS.replace("splits: 2", "splits: 3"))
    assert set(rules_run(project.ok(f"{RUN} -n"))) == {
        *("attribution", "steck2020_attribution", "steck2020_attribution_split"),
    }
