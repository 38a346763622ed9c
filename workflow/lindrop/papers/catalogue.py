"""The papers with their figures and tables, each registered here and nowhere else.

A paper has a folder beside this file and its claims in config/claims/<paper>.yaml. In its folder,
figures/<figure>.py makes one figure, tables/<table>.py one table, and every module of checks/
computes checks of its claims.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """A figure of a paper: how a reader finds it, and what its computation depends on.

    Its module has `data(...)`, which computes what is shown; `draw(data)`; `checks(data)`, unless
    `checks` is false here; and `table(data)` where the csv beside the figure is not `data` itself.
    """

    label: str  # what the paper calls it, such as "Figure 1"
    part: str  # what it shows, in a few words
    settings: tuple[str, ...] = ()  # arguments of `data` taken from the configuration
    checks: bool = True  # whether it decides claims by itself
    deep: bool = False  # made by `make deep` only: it needs PyTorch
    asked: bool = False  # made by the target of its own name only: it takes long

    def __post_init__(self) -> None:
        if (self.deep or self.asked) and not self.checks:
            raise ValueError("the file of its checks tells whether such a figure is outdated")


@dataclass(frozen=True)
class Table:
    """A table of a paper: how a reader finds it.

    Its module has `data(...)`, which computes what is shown; `table(data)`, the csv of numbers;
    `shown(data)`, the table for readers; and its CAPTION.
    """

    label: str  # what the paper calls it, such as "Table 1"
    part: str  # what it shows, in a few words
    compared: bool = False  # whether `snakemake compare` shows it, on the paper's own data


Paper = dict[str, Figure | Table]

PAPERS: dict[str, Paper] = {
    "steck2020": {
        "table1_datasets": Table("Table 1", "data-set properties"),
        "table1": Table("Table 1", "accuracies", compared=True),
        "fig1_left": Figure("Figure 1, left", "accuracy by rank", checks=False),
        "fig1_center": Figure("Figure 1, center", "cosines, Eq. 11", checks=False),
        "fig1_right": Figure("Figure 1, right", "cosines, unconstrained", checks=False),
        "attribution": Figure("Table 1", "as published and exact", asked=True),
        "emphasis": Figure("Section 4", "weights b above 0", asked=True),
        "fig1_as_published": Figure("Figure 1, left", "trained as published", asked=True),
        "theorem": Figure("Theorem (Eq. 6)", "sampled dropout", ("seed",), checks=False),
        "admm": Figure("Solvers of Eq. 10", "convergence", checks=False),
        "embeddings": Figure("Section 5", "penalties on embeddings", checks=False),
    },
    "mianjy2018": {
        "fig1": Figure("Figure 1", "landscape"),
        "fig2": Figure("Figure 2", "traces of dropout", ("seed",)),
        "fig3": Figure("Figure 3", "convergence of dropout"),
    },
    "pal2020": {
        "fig1": Figure("Figure 1", "DropBlock", ("seed", "iterations")),
        "fig3": Figure("Figure 3", "DropConnect", ("seed", "iterations")),
        "fig4": Figure("Figure 4", "overlapping blocks", ("seed", "iterations")),
        "fig5": Figure("Figure 5", "DropBlock, more θ", ("seed", "iterations")),
        "fig6": Figure("Figure 6", "DropConnect, more θ", ("seed", "iterations")),
        "dropconnect": Figure("DropConnect", "inputs after a ReLU", ("seed", "iterations")),
        "schemes": Figure("Characteristic matrices", "schemes", ("seed",), checks=False),
        "fig2": Figure("Figure 2", "ResNet-50", deep=True),
    },
    "pretorius2018": {
        "dynamics": Figure("Dynamics", "AE, DAE and WDAE", ("seed",)),
        "dae_vs_wdae": Figure("DAE and WDAE", "fixed points and speed"),
        "rates": Figure("Rates", "optimal rates", ("seed",)),
        "weight_norms": Figure("Weight norms", "DAE and WDAE", ("seed",)),
        "images_linear": Figure("Images, linear", "theory and simulation", ("seed",)),
        "supp_fig1": Figure("Supplement, Figure 1", "tanh networks"),
        "relu": Figure("ReLU", "relu networks"),
    },
}


def module_of(paper: str, name: str) -> Path:
    """File of the module that makes a figure or a table."""
    folder = "tables" if isinstance(PAPERS[paper][name], Table) else "figures"
    return FOLDER / paper / folder / f"{name}.py"


def check_modules(paper: str) -> list[Path]:
    """Files of the modules that check a paper's claims without a figure or a dataset."""
    return sorted((FOLDER / paper / "checks").glob("[a-z]*.py"))


def module_name(file: Path) -> str:
    """Name to import a module of the papers by, such as lindrop.papers.pal2020.figures.fig1."""
    parts: Iterator[str] = iter(file.relative_to(FOLDER).with_suffix("").parts)
    return ".".join(("lindrop.papers", *parts))
