"""The claims of a paper, and the checks that decide them without a figure or a dataset."""

from importlib import import_module

from lindrop.base.yaml_files import read_yaml
from lindrop.claims.register import read_paper
from lindrop.papers.catalogue import PAPERS, Figure, check_modules, module_name
from support.repository import REPOSITORY

SCHEMA = REPOSITORY / "workflow" / "lindrop" / "schemas" / "claims.schema.yaml"


def checks_of(paper, seed):
    """Checks of every module in papers/<paper>/checks, as the job <paper>_checks computes them."""
    modules = [import_module(module_name(file)) for file in check_modules(paper)]
    return [check for module in modules for check in module.checks(seed)]


def figures_of(paper):
    """Figures of a paper that decide claims, of which one has the name of the figure."""
    rows = PAPERS[paper].items()
    return {name for name, row in rows if isinstance(row, Figure) and row.checks}


def claims_of(paper):
    """What config/claims/<paper>.yaml says of a paper."""
    return read_paper(REPOSITORY / "config" / "claims" / f"{paper}.yaml", read_yaml(SCHEMA))


def words_of_failing(found):
    """What is said of the checks that do not hold."""
    return [check.what for check in found if not check.holds]
