"""Splits of generated sets that several benchmarks read; a file is made when first asked for."""

from pathlib import Path

from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import synthetic_interactions
from lindrop.data.synthetic.recipe import Recipe, recipe_of
from lindrop.store.split import write_split

SETS: dict[str, tuple[Recipe, Protocol]] = {
    # as many users, items and interactions as MovieLens 20M has by the paper's protocol
    "ml-20m-size": (recipe_of("ml-20m"), Protocol(10_000, None, 5)),
    # a shop with accounts that touch up to a third of the catalogue, such as those of resellers
    "heavy-users": (
        Recipe(60_000, 30_000, 5_000_000, activity_sigma=2.2),
        Protocol(5_000, None, 5),
    ),
}


def split_file(name: str, folder: str) -> str:
    """Path of the split of a generated set in a folder; it is written there unless it is there."""
    path = Path(folder) / f"{name}.h5"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        recipe, protocol = SETS[name]
        data = synthetic_interactions(recipe, 1)
        write_split(path, split(data, protocol), {"format": "synthetic"})
    return str(path)
