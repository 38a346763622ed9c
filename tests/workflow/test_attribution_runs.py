"""Targets that train Table 1 and Figure 1 as published and tune b, from a config to a figure."""

import pandas as pd

from lindrop.claims.check_files import read_checks
from lindrop.papers.steck2020.figures.fig1_as_published import CLAIMS
from support.configurations import SMALL, rules_run

SETTINGS = SMALL + "rank: 8\nranks: [8]\nsteck2020: {splits: 2}\n"
RUN = "snakemake --cores 2 attribution --configfile config/small.yaml"
MODELS = "results/experiments/steck2020/attribution/small"


def test_attribution_runs_on_every_split_and_only_when_it_is_asked_for(project):
    project.write("config/small.yaml", SETTINGS)
    planned = project.ok("snakemake -n --cores 2 steck2020 --configfile config/small.yaml")
    assert not {rule for rule in rules_run(planned) if "attribution" in rule}
    always = SETTINGS.replace("splits: 2", "splits: 2, as_published: true")
    project.write("config/always.yaml", always)
    planned = project.ok("snakemake -n --cores 2 steck2020 --configfile config/always.yaml")
    assert rules_run(planned).count("steck2020_attribution_split") == 2
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


def test_trainings_as_published_are_made_again_for_another_seed_of_the_same_split(project):
    """Random starts depend on `seed`; neither a split of a file does nor the closed forms of b."""
    lines = [f"u{user},p{(user + 3 * item) % 40}" for user in range(40) for item in range(6)]
    project.write("my.csv", "\n".join(["user,item", *lines]))
    source = "source: {format: csv, path: my.csv}"
    own = f"datasets: {{mine: {{{source}, protocol: {{heldout_users: 4}}}}}}\n"
    project.write("config/mine.yaml", own)
    stages = "split", "emphasis", "attribution", "curves"
    probe = f"print('made:', *(lineage(stage, dataset='mine') for stage in {stages}))"
    project.write("probe.smk", f'include: "workflow/Snakefile"\n{probe}\n')
    run = "snakemake -s probe.smk -n --cores 2 data --configfile config/mine.yaml --config seed="
    found = [project.ok(f"{run}{seed}").partition("made: ")[2].split()[:4] for seed in (1, 2)]
    assert [one == other for one, other in zip(*found, strict=True)] == [True, True, False, False]


def test_weights_b_and_figure_1_as_published_run_when_they_are_asked_for(project):
    settings = SETTINGS.replace("[8]", "[4, 8]")  # a single low rank decides no claim
    project.write("config/small.yaml", settings)
    run = "snakemake --cores 2 emphasis fig1_as_published --configfile config/small.yaml"
    planned = project.ok("snakemake -n --cores 2 steck2020 --configfile config/small.yaml")
    assert not {"steck2020_emphasis", "steck2020_curves"} & {*rules_run(planned)}
    project.ok(run)
    found = pd.read_csv(project.path("results/figures/steck2020_emphasis.csv"))
    gains = found[found["quantity"] == "gain"]
    assert (gains["splits"] == 2).all()
    identities = found[found["quantity"] == "identity"]
    assert (identities["value"] < 1e-9).all()
    curves = pd.read_csv(project.path("results/figures/steck2020_fig1_as_published.csv"))
    assert curves["curve"].value_counts().tolist() == [3, 3, 3]
    for job, claims in {
        "emphasis": {"emphasis"},
        "fig1_as_published": {*CLAIMS.values()},
    }.items():
        checks = read_checks(project.path(f"results/experiments/steck2020/{job}.json"))
        assert {check.claim for check in checks} == claims
        assert {check.data for check in checks} == {"synthetic"}
    assert not rules_run(project.ok(f"{run} -n"))
    project.write(
        "probe.smk", 'include: "workflow/Snakefile"\nprint("counted:", *deep_results(".json"))\n'
    )
    probe = "snakemake -s probe.smk -n --cores 2 scorecard --configfile config/small.yaml"
    made = [
        f"results/experiments/steck2020/{job}.json" for job in ("emphasis", "fig1_as_published")
    ]
    assert f"counted: {' '.join(made)}\n" in project.ok(probe)
    # results from fewer splits than the configuration asks for are not counted
    project.write("config/small.yaml", settings.replace("splits: 2", "splits: 3"))
    assert f"counted: {made[1]}\n" in project.ok(probe)
    project.write("config/small.yaml", settings)
    # what was made from other data decides no claim, though its datasets have the same names
    assert "counted:\n" in project.ok(f"{probe} --config seed=2")
