"""What a run is predicted to take: its jobs, its sizes, and how time grows with the data."""

from dataclasses import replace

import pytest
import yaml

from lindrop.base.errors import UserError
from lindrop.configuration.config import checked
from lindrop.configuration.schema import load_schema
from lindrop.models.catalogue import CATALOGUE, TORCH
from lindrop.papers.steck2020 import attribution, procedures
from lindrop.planning import cost, work
from lindrop.planning.look import looked_at
from lindrop.planning.plan import STARTS, as_published_jobs, planned
from lindrop.planning.sizes import DataSize, stated_size
from support.repository import REPOSITORY

SMALL = DataSize(600_000, 12_000, 2_000, 10_000, 500_000, 7.5e7, 1_000)
LARGE = replace(SMALL, items=20_000)
FEW_USERS = DataSize(90_000, 1_900, 15_000, 1_500, 73_000, 7e6, 200)


def configured(name):
    return checked(yaml.safe_load((REPOSITORY / "config" / name).read_text()), load_schema())


def own(path, **protocol):
    source = {"format": "csv", "path": str(path)}
    entry = {"source": source, "protocol": {"heldout_users": 2, **protocol}}
    return checked({"datasets": {"mine": entry}}, load_schema())


@pytest.fixture
def table(tmp_path):
    """Nine users of 5 to 13 items each, and one repeated row."""
    rows = [f"u{user},i{item}" for user in range(9) for item in range(5 + user)]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["user,item", *rows, rows[0]]) + "\n")
    return path


def test_every_model_has_a_work_and_a_rate():
    assert {*work.FITS} == {*CATALOGUE} - {*TORCH}
    assert {*work.FITS} <= {*cost.rates()}


@pytest.mark.parametrize("model", [name for name in work.FITS if name != "popularity"])
def test_time_grows_with_items_and_with_points(model):
    def seconds(size, points):
        options = {key: option.default for key, option in CATALOGUE[model].options.items()}
        options["lambda"] = [1.0 + point for point in range(points)]
        ranks = [100] if CATALOGUE[model].low_rank else [size.items]
        return cost.tuning_seconds(model, size, ranks, 100, options, "grid")

    assert seconds(LARGE, 4) > seconds(SMALL, 4)
    assert seconds(SMALL, 8) == pytest.approx(2 * seconds(SMALL, 4))


def test_few_users_make_full_rank_models_cheap():
    """An inverse of users × users: tens of times fewer operations than one of items × items.

    They are slower ones, so that less is left of it in seconds.
    """
    many_users = replace(FEW_USERS, train_users=15_000)
    dual, primal = (work.full_rank(size, [1], {}) for size in (FEW_USERS, many_users))
    assert primal > 20 * dual
    dual, primal = (cost.fit_seconds("ease", size, [1], {}) for size in (FEW_USERS, many_users))
    assert primal > 5 * dual


def test_sizes_come_from_the_generator_the_paper_or_the_configuration():
    paper = configured("paper.yaml")["datasets"]
    assert stated_size(paper["ml-20m"]).items == 20_108
    assert stated_size(paper["msd"]).users == 571_355
    assert stated_size(configured("config.yaml")["datasets"]["demo"]).entries == 2_000_000
    assert stated_size(configured("ml-100k.yaml")["datasets"]["ml-100k"]) is None


def test_a_look_counts_what_the_split_will_have(table, tmp_path):
    entry = own(table)["datasets"]["mine"]
    kept = tmp_path / "looks.json"
    size = looked_at(entry, {"train": table}, kept)
    assert (size.rows, size.users, size.repeats, size.tested) == (82, 9, 1, 2)
    assert size.train_users == 5
    answers = kept.read_text()
    kept.write_text(answers.replace('"rows": 82', '"rows": 83'))
    assert looked_at(entry, {"train": table}, kept).rows == 83  # kept, not asked again
    table.write_text(table.read_text() + "u1,new\n")
    assert looked_at(entry, {"train": table}, kept).rows == 83  # asked again: one row more


def test_a_file_that_cannot_be_split_is_named(table):
    config = own(table, heldout_users=5)
    with pytest.raises(UserError, match="heldout_users is 5"):
        looked_at(config["datasets"]["mine"], {"train": table})
    plan = planned(config)
    assert "heldout_users is 5" in plan.unknown["mine"]
    assert not plan.jobs


def test_jobs_are_those_that_snakemake_counts():
    """`snakemake -n` counts one more, the target itself: 73 and 601 when this was written."""
    names = [name for name in work.FITS if not CATALOGUE[name].asked]
    assert planned(configured("config.yaml"), names, papers=True).totals()["jobs"] == 72


def test_trainings_as_published_are_counted_where_every_run_makes_them():
    """`snakemake -n` counts 81 and 85 with the target itself, for one split and for five."""
    names = [name for name in work.FITS if not CATALOGUE[name].asked]
    config = configured("config.yaml")
    plain = planned(config, names, papers=True)
    for splits in (1, 5):
        config["steck2020"] |= {"as_published": True, "splits": splits, "times": [5]}
        plan = planned(config, names, papers=True)
        trained = [job for job in plan.jobs if job not in plain.jobs]
        assert sum(job.jobs for job in trained) == splits + 5 + 1
        assert plan.core_hours > plain.core_hours
        assert plan.totals()["jobs"] == plain.totals()["jobs"] + splits + 6
    (entry,) = config["datasets"].values()
    entry["protocol"]["split"] = "weak"
    assert len(planned(config, names, papers=True).jobs) == len(plain.jobs)
    longer = config["steck2020"] | {"times": [50]}
    size = planned(config, names).sizes["demo"]
    entry["protocol"]["split"] = "users"
    short, long = (
        sum(job.seconds for job in as_published_jobs("demo", size, config | {"steck2020": own}))
        for own in (config["steck2020"], longer)
    )
    assert long > 1.3 * short


def test_the_plan_knows_the_procedures_of_table_1():
    assert {row.number: max(row.epochs) for row in procedures.ROWS} == work.PUBLISHED_EPOCHS
    assert (work.BATCHES, STARTS) == (procedures.BATCHES, attribution.STARTS)


def test_more_cores_are_faster_but_not_without_end():
    plan = planned(configured("paper.yaml"))
    two, eight, many = (plan.minutes(cores) for cores in (2, 8, 64))
    assert two > 2 * eight > 2 * many
    assert many > two / 32
    assert plan.core_hours * 60 > two
    assert "msd" in plan.text()
    assert {*plan.table()["dataset"]} == {"ml-20m", "netflix", "msd"}


def test_a_search_makes_fewer_fits_than_the_grid():
    options = {"p": [0.1, 0.2, 0.3, 0.4], "lambda": [1, 10, 100, 300, 1000]}
    assert cost.tuning_fits(options, "grid") == 20
    assert cost.tuning_fits(options, "search") < 15
    assert cost.tuning_fits({"lambda": [5]}, "search") == 1
