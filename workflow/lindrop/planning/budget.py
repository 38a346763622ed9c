"""Which models, grids and ranks a budget of minutes allows on data of a given size.

Every model has several ways to be tuned, from the most thorough to the cheapest sound one. All
models that fit are taken in the cheapest way first, in the order in which they usually pay; then
the rest of the budget makes them more thorough, in the same order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lindrop.models.catalogue import CATALOGUE
from lindrop.planning import plan, work
from lindrop.planning.sizes import DataSize
from lindrop.ranking.grids import axes, grid, rank_of_table

# Models in the order in which they usually pay: first quick ones whose accuracy is near the best.
WORTH = (
    *("popularity", "sparse_edlae", "ease", "full_edlae", "full_dlae", "product_l2"),
    *("weight_decay", "wmf", "slim", "edlae", "dropout_l2", "full_l2"),
)
FIRST = ("popularity", "sparse_edlae", "sparse_ease")  # the first table is of these
NOT_WORTH = {
    "sampled_dropout": "has the objective of dropout_l2, which needs no training",
    "sparse_ease": "is sparse_edlae without dropout",
    "hybrid_edlae": "takes many times as long as sparse_edlae: name it under compare.models",
    "zero_diagonal": "is edlae with a harder constraint and many more iterations",
    "zero_diagonal_l2": "is edlae with a harder constraint and many more iterations",
}
SPARE = 0.8  # share of the budget that predictions may fill
SMALLER = 50  # rank that is tried where the configured one takes too long
SHARE = 0.8  # of the available memory


@dataclass(frozen=True)
class Way:
    """One way to tune a model: its options and its rank, and what it takes."""

    options: Mapping[str, Any]
    rank: int
    minutes: float
    memory: float
    words: str  # what was made smaller; empty if nothing


@dataclass
class Choice:
    """What a budget chose for a dataset: ways by model, in the order of jobs; why not others."""

    size: DataSize
    ways: dict[str, Way] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    minutes: float = 0.0
    memory: float = 0.0
    matrix: float = 0.0  # minutes of X'X and its spectrum

    def ordered(self) -> list[str]:
        """Models in the order of their jobs: quick ones first, then by what must be made for them.

        That is nothing, X'X, or its spectrum as well.
        """
        return sorted(
            self.ways,
            key=lambda model: (
                plan.needs_gram(model, self.size),
                FIRST.index(model) if model in FIRST else len(FIRST),
                CATALOGUE[model].spectrum,
                self.ways[model].minutes,
            ),
        )

    def stages(self) -> list[list[str]]:
        """Models after which a table is shown: two, then those done in 1, 2, 4, 8, … minutes."""
        passed, limit = 0.0, 1.0
        done: list[str] = []
        found: list[list[str]] = []
        waits = self.matrix
        for model in self.ordered():
            passed += self.ways[model].minutes
            if plan.needs_gram(model, self.size):
                passed, waits = passed + waits, 0.0
            if len(done) > 1 and (not found or passed > limit):
                found.append(list(done))
                while passed > limit:
                    limit *= 2
            done.append(model)
        return found


def chosen(
    name: str,
    size: DataSize,
    config: Mapping[str, Any],
    minutes: float,
    cores: int,
    memory: float,
    named: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
) -> Choice:
    """The choice for a dataset: models, options and ranks whose predicted minutes fill the budget.

    `named` models are all taken, in the cheapest way at least. `fixed` are keys that the user has
    set, which stay as they are: `ranks`, `rank`, `tuning` and names of models with own grids.
    """
    found = Choice(size)
    jobs = plan.data_jobs(name, size, config, work.FITS)
    of_matrix = [job for job in jobs if job.rule in ("gram", "spectrum")]
    found.matrix = plan.Plan(of_matrix, {}, {}).minutes(cores)
    spent = plan.Plan([job for job in jobs if job not in of_matrix], {}, {}).minutes(cores)
    ways: dict[str, list[Way]] = {}
    for model in named or WORTH:
        if model not in work.FITS:
            continue  # a deep one, of which nothing is predicted
        ways[model] = sorted(
            ways_of(name, size, config, model, cores, fixed), key=lambda way: -way.minutes
        )
        fitting = [way for way in ways[model] if way.memory <= SHARE * memory]
        if not fitting:
            least = min(way.memory for way in ways[model])
            found.left_out[model] = (
                f"needs {least / 1e9:,.1f} GB of memory, {memory / 1e9:,.1f} GB are available"
            )
            del ways[model]
            continue
        ways[model] = fitting
    budget, waits = SPARE * minutes, found.matrix
    for model, all_ways in ways.items():
        cheapest = all_ways[-1]
        first = waits if plan.needs_gram(model, size) else 0.0
        kept = named or model in FIRST  # without one model there is no answer
        if kept or spent + first + cheapest.minutes <= budget:
            found.ways[model] = cheapest
            spent, waits = spent + first + cheapest.minutes, waits - first
        else:
            found.left_out[model] = f"takes {plan.duration(60 * cheapest.minutes)} at least"
    for model, taken in list(found.ways.items()):
        for way in ways[model]:
            if spent - taken.minutes + way.minutes <= budget:
                spent += way.minutes - taken.minutes
                found.ways[model] = way
                break
    if named is None:
        found.left_out |= NOT_WORTH
    found.ways = {model: found.ways[model] for model in found.ordered()}
    found.minutes = spent
    found.memory = max((way.memory for way in found.ways.values()), default=0.0)
    return found


def ways_of(
    name: str,
    size: DataSize,
    config: Mapping[str, Any],
    model: str,
    cores: int,
    fixed: Sequence[str],
) -> Iterator[Way]:
    """Ways to tune a model, whose options the user may have set."""
    options = {key: option.default for key, option in CATALOGUE[model].options.items()}
    options |= config["models"].get(model, {})
    largest = plan.ranks_of(model, size, config["ranks"], config["rank"])
    first = rank_of_table(config["rank"], largest) if CATALOGUE[model].low_rank else config["rank"]
    ranks = {
        first: ""
        if first == config["rank"]
        else f"rank {first}, as the data have no {config['rank']}"
    }
    if CATALOGUE[model].low_rank and "rank" not in fixed and first > SMALLER:
        ranks[SMALLER] = f"rank {SMALLER} instead of {first}"
    grids = [(options, "")]
    if model not in fixed:
        grids += [(fewer, words) for fewer, words in smaller(options)]
    for rank, of_rank in ranks.items():
        kept = list(config["ranks"]) if "ranks" in fixed else [rank]
        for some, of_grid in grids:
            own = {**config, "rank": rank, "ranks": kept, "models": {model: some}}
            own["tuning"] = config["tuning"] if "tuning" in fixed else "search"
            jobs = plan.jobs_of_model(name, size, own, model)
            alone = plan.Plan(jobs, {}, {})
            needed = max(job.memory for job in jobs)
            words = ", ".join(filter(None, (of_rank, of_grid)))
            yield Way(some, rank, alone.minutes(cores), needed, words)


def smaller(options: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Smaller grids: the middle three values of every axis, and those of the last one alone."""
    points = len(grid(options))
    lists = {axis: sorted(values) for axis, values in axes(options).items() if len(values) > 1}
    if not lists:
        return
    inner = {axis: middle(values, 3) for axis, values in lists.items()}
    last = next(reversed(lists))
    line = {axis: middle(values, 1) for axis, values in lists.items() if axis != last}
    for some in (inner, line | {last: inner[last]}):
        fewer = {**options, **some}
        if len(grid(fewer)) < points:
            points = len(grid(fewer))
            yield fewer, f"a grid of {points} points"


def middle(values: Sequence[float], number: int) -> list[float]:
    """Values around the middle of a sorted list."""
    first = max((len(values) - number) // 2, 0)
    return list(values[first : first + number])


def told(name: str, choice: Choice, minutes: float, cores: int) -> str:
    """What was read and chosen for a dataset, in lines for a person."""
    lines = [plan.told(name, choice.size)]
    lines.append(
        f"  {len(choice.ways)} models, about {choice.minutes:,.1f} min on {cores} cores within a "
        f"budget of {minutes:g} min, {choice.memory / 1e9:,.1f} GB of memory at most:"
    )
    for model, way in choice.ways.items():
        points = len(grid(way.options))
        rank = f", rank {way.rank}" if CATALOGUE[model].low_rank else ""
        less = f" ({way.words})" if way.words else ""
        tuned = f"{points} points{rank}" if points > 1 else f"no tuning{rank}"
        lines.append(f"    {model}: {tuned}, {plan.duration(60 * way.minutes)}{less}")
    for model, why in choice.left_out.items():
        lines.append(f"    left out: {model} ({why})")
    if choice.minutes > minutes:
        lines.append("  this is more than the budget: these models take as long at least")
    return "\n".join(lines)
