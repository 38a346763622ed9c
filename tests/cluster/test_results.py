"""What two nodes of Slurm make is, byte for byte, what one machine makes."""

from support.slurm_runs import TINY, SlurmRun, contents, contents_on_one_machine

# Shards of X'X, tuning and experiments in groups, light rules.
TARGETS = (
    "results/metrics/small/edlae.h5 results/tables/steck2020_table1_datasets.csv "
    "results/figures/pal2020_fig1.csv results/figures/pretorius2018_rates.csv"
)


def test_results_are_those_of_one_machine(project, cluster):
    project.write("config/tiny.yaml", TINY)
    alone = contents_on_one_machine(project, TARGETS, "config/tiny.yaml")
    said = SlurmRun(project, TARGETS, "config/tiny.yaml").finish()
    assert contents(project) == alone
    assert "restart" not in said
    assert {"one", "two"} == set.union(*cluster.history("%N").values())
