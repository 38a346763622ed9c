# The checked configuration, and what follows from it for all rules. This file has no rules.
from lindrop.configuration.config import checked, downloads
from lindrop.base.records import mark, require_records
from lindrop.base.error_file import begin_run
from lindrop.configuration.command_line import typed
from lindrop.configuration.schema import load_schema
from lindrop.base.errors import UserError
from lindrop.ranking.metrics import DEFAULT as PUBLISHED_METRICS
from lindrop.models.catalogue import CATALOGUE, TORCH as DEEP
from lindrop.papers.catalogue import PAPERS, Table, module_name

if " " in sys.executable:
    sys.exit(
        f"lindrop: error: {sys.executable}: Snakemake cannot start a Python whose path has a space; "
        "move the project to a folder without one"
    )

for file in workflow.configfiles:
    check_configuration(file)
# What the configuration says of tuning, before the defaults are filled in: a budget leaves it as it is.
GIVEN = [key for key in ("rank", "ranks", "tuning") if key in config]
GIVEN += list(config.get("models") or {})
BUDGET_GIVEN = "budget" in (config.get("compare") or {})
try:
    # changed in place, so that scripts see the defaults as well
    config.update(
        checked(typed(config, workflow.config_settings.config), load_schema())
    )
except UserError as error:
    sys.exit(f"lindrop: error: {error}")


RESULTS = real("<results>")
DATASETS = config["datasets"]
check_folders(DATASETS)
if workflow.is_main_process:  # its jobs have made results already when they read this
    try:
        require_records(Path(RESULTS))
    except UserError as error:
        sys.exit(f"lindrop: error: {error}")
MODELS = [model for model in CATALOGUE if model not in DEEP]
# Datasets whose training users are tested as well: tuning fits their models to fewer interactions.
WEAK = [
    name for name, entry in DATASETS.items() if entry["protocol"]["split"] != "users"
]
SYNTHETIC = [
    name for name, entry in DATASETS.items() if entry["source"]["format"] == "synthetic"
]
FROM_FILES = [name for name in DATASETS if name not in SYNTHETIC]
DOWNLOADS = downloads(config)
CRITERION = config["criterion"]
# Tuning measures the criterion and the published metrics, so that another metric to be shown does
# not make it run again. The published ones are always tested: the papers' tables show them.
TUNED_BY = list(dict.fromkeys([*PUBLISHED_METRICS, CRITERION]))
TESTED_BY = list(dict.fromkeys([*config["metrics"], *TUNED_BY]))
# Models that `snakemake compare` shows. Unless the configuration names some, Table 1 shows them, too.
SOME_COMPARED = config["compare"]["models"]
# Datasets whose models, grids and ranks a budget chooses: by default the user's own tables.
OWN_FORMATS = ("csv", "tsv", "parquet", "adjacency")
BUDGETED = [
    name
    for name in FROM_FILES
    if config["compare"]["budget"] is not None
    and (BUDGET_GIVEN or DATASETS[name]["source"]["format"] in OWN_FORMATS)
]
ONLY_SOME = bool(SOME_COMPARED or BUDGETED)
# Names of the figures and tables about the datasets, which `snakemake compare` makes.
COMPARED = [
    "dataset_long_tails",
    "compare",
    "compare_costs",
    "compare_groups",
    "datasets",
    *(
        f"{paper}_{name}"
        for paper, rows in PAPERS.items()
        for name, row in rows.items()
        if isinstance(row, Table)
        and row.compared
        and not (ONLY_SOME and (paper, name) == ("steck2020", "table1"))
    ),
]
# The papers' rules fill in these three: files that the target of each paper makes, files that only
# `make deep` makes, and files of each figure that only the target of its own name makes.
PAPER_RESULTS = {paper: [] for paper in PAPERS}
DEEP_RESULTS = []
ASKED_RESULTS = {
    name: []
    for rows in PAPERS.values()
    for name, row in rows.items()
    if not isinstance(row, Table) and row.asked
}
# Fingerprints of what leads to those checks of each paper that every run computes. The papers' rules
# fill this in, too.
LED_TO_CHECKS = {paper: [] for paper in PAPERS}
# Names of figures that have a target of their own, but are made by every run.
EVERY_RUN = (
    ["attribution"]
    if config["steck2020"]["as_published"] and len(WEAK) < len(DATASETS)
    else []
)
# For each figure that not every run makes, its files and a fingerprint of what leads to them. The
# papers' rules fill this in, too.
OPTIONAL_RESULTS = []


def one_of(names):
    """Regular expression that matches these names only; it matches nothing if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def paper_settings(paper, names):
    """Configured values of these names, from the section of a paper or else from the top level."""
    own = config.get(paper, {})
    return {name: own.get(name, config.get(name)) for name in names}
