"""Packages of the library import each other in one direction only."""

import ast
from graphlib import TopologicalSorter

from support.repository import REPOSITORY

LIBRARY = REPOSITORY / "workflow" / "lindrop"


def imported(file):
    """Packages of the library that a file imports, at its top or later."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    names = [f"{node.module}." for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [
        f"{name.name}." for node in nodes if isinstance(node, ast.Import) for name in node.names
    ]
    return {name.split(".")[1] for name in names if name.startswith("lindrop.")}


def packages():
    """What each package imports, by its name."""
    folders = [folder for folder in LIBRARY.iterdir() if (folder / "__init__.py").exists()]
    return {
        folder.name: set().union(*map(imported, folder.rglob("*.py"))) - {folder.name}
        for folder in folders
    }


def test_no_packages_import_each_other_in_a_circle():
    order = list(TopologicalSorter(packages()).static_order())  # raises CycleError
    assert order.index("base") < order.index("models") < order.index("store")


def test_only_scripts_and_rules_import_the_papers():
    assert [name for name, needed in packages().items() if "papers" in needed] == []
    assert "papers" in packages()
