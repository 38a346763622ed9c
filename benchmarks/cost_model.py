"""Estimates of the memory and time that a dense linear autoencoder of m items needs.

    python benchmarks/cost_model.py

Memory is what the library requires before a fit. Times are numbers of operations (m³ at full rank,
4 m² k for an iteration of EDLAE of rank k) divided by the rates that were measured at the size of
ML-20M (benchmarks/results/models_at_scale.csv). The time of X'X is proportional to the number of
interactions, assumed to be as many per item as in ML-20M.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lindrop.data.synthetic.recipe import PRESETS
from lindrop.models.catalogue import CATALOGUE
from lindrop.models.memory import Size, triangle_bytes

MEASURED = Path(__file__).parent / "results" / "models_at_scale.csv"
MEASURED_ITEMS = PRESETS["ml-20m"].items
CATALOGUES = (5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
RANK = 1000
FASTER = 40  # speed of the other machine that the tables show, relative to the measured one
UNITS = (("s", 1), ("min", 60), ("h", 3600), ("days", 86400))


@dataclass(frozen=True)
class Rates:
    """Rates of a machine: operations per second, and items counted in X'X per second."""

    full_rank: float
    iteration: float
    counting: float

    @classmethod
    def measured(cls, kernels: str = "Haswell") -> "Rates":
        """Rates measured by benchmarks/models_at_scale.py on two cores."""
        found = pd.read_csv(MEASURED).query(
            "set == 'ml-20m' and who == 'lindrop' and kernels == @kernels"
        )
        seconds = found.set_index("step")["seconds"]
        return cls(
            full_rank_operations(MEASURED_ITEMS) / seconds["invert"],
            iteration_operations(MEASURED_ITEMS, RANK) / seconds["edlae iteration"],
            MEASURED_ITEMS / seconds["gram"],
        )


def full_rank_operations(items: int) -> float:
    """Operations of a full-rank fit, which are those of one inverse."""
    return float(items) ** 3


def iteration_operations(items: int, rank: int) -> float:
    """Operations of an EDLAE iteration: two products of items × items by items × rank."""
    return 4.0 * items**2 * rank


def fit_bytes(model: str, items: int, rank: int) -> float:
    """Peak memory of a fit beside Python and the data, by the library's own estimate."""
    return CATALOGUE[model].needed_bytes(size_of(items, rank), [rank])


def size_of(items: int, rank: int) -> Size:
    """Size of data with as many users and interactions per item as ML-20M."""
    share = items / PRESETS["ml-20m"].items
    users, entries = (
        round(share * count) for count in (PRESETS["ml-20m"].users, PRESETS["ml-20m"].interactions)
    )
    return Size(users, items, entries, eigenpairs=rank)


def file_bytes(items: int, rank: int | None = None) -> float:
    """Size of a model's file: a triangle of B, or U and V of a given rank, in float32."""
    return triangle_bytes(items) if rank is None else 8.0 * items * rank


def memory_table(catalogues: tuple[int, ...] = CATALOGUES, rank: int = RANK) -> pd.DataFrame:
    """Table of the memory of fits and the size of model files, by number of items."""
    return pd.DataFrame(
        {
            "items": f"{items:,}",
            "full rank": size(fit_bytes("ease", items, rank)),
            f"EDLAE, rank {rank}": size(fit_bytes("edlae", items, rank)),
            f"sampled dropout, rank {rank}": size(fit_bytes("sampled_dropout", items, rank)),
            "file, full rank": size(file_bytes(items)),
            f"file, rank {rank}": size(file_bytes(items, rank)),
        }
        for items in catalogues
    )


def time_table(
    rates: Rates, catalogues: tuple[int, ...] = CATALOGUES, rank: int = RANK
) -> pd.DataFrame:
    """Table of the times of X'X, a full-rank fit and an iteration of EDLAE, by number of items."""
    iteration = f"an iteration of EDLAE, rank {rank}"
    rows = []
    for items in catalogues:
        full = full_rank_operations(items) / rates.full_rank
        step = iteration_operations(items, rank) / rates.iteration
        rows.append(
            {
                "items": f"{items:,}",
                "X'X": duration(items / rates.counting),
                "full rank": duration(full),
                iteration: duration(step),
                f"full rank, {FASTER} × as fast": duration(full / FASTER),
                f"iteration, {FASTER} × as fast": duration(step / FASTER),
            }
        )
    return pd.DataFrame(rows)


def size(count: float) -> str:
    """Number of bytes as text, in GB or TB."""
    return f"{count / 1e12:,.1f} TB" if count >= 1e12 else f"{count / 1e9:,.1f} GB"


def duration(seconds: float) -> str:
    """Duration as text, in the largest unit in which it is at least one."""
    unit, length = max(
        (entry for entry in UNITS if seconds >= entry[1]),
        key=lambda entry: entry[1],
        default=UNITS[0],
    )
    return f"{seconds / length:,.1f} {unit}"


def tables() -> list[pd.DataFrame]:
    """Memory and time, as docs/performance.md shows them."""
    return [memory_table(), time_table(Rates.measured())]


if __name__ == "__main__":
    for table in tables():
        print(table.to_markdown(index=False, disable_numparse=True), end="\n\n")
