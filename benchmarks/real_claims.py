"""Which empirical claims of Steck 2020 real datasets bear out: a section of docs/results.md.

`benchmarks/real_data.py` takes the checks of a run and writes the page.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from lindrop.base.yaml_files import read_yaml
from lindrop.claims.check_files import read_checks
from lindrop.claims.checks import CHARITABLE, PRINTED, Check
from lindrop.claims.register import Claim, read_paper
from lindrop.claims.verdicts import Verdict, verdict
from lindrop.papers.steck2020.figures import attribution as figure_attribution
from lindrop.papers.steck2020.figures import emphasis as figure_emphasis
from lindrop.papers.steck2020.figures import fig1_as_published

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "benchmarks" / "results" / "real_claims.csv"
ATTRIBUTION, EMPHASIS = FILE.with_name("attribution.csv"), FILE.with_name("emphasis.csv")
CURVES = FILE.with_name("fig1_as_published.csv")
CLAIMS = ROOT / "config" / "claims" / "steck2020.yaml"
SCHEMA = ROOT / "workflow" / "lindrop" / "schemas" / "claims.schema.yaml"
TITLES = {
    "ml-100k": "MovieLens 100K",
    "ml-1m": "MovieLens 1M",
    "lastfm": "Last.fm",
    "gowalla-users": "Gowalla",
}
INTRODUCTION = """\
Exact optima, tuned on the validation users, and Figure 1 as published, on the configured split of
each set; claims on rows of Table 1 as published and on weights b rest on the splits of the sections
below. *Yes*: the claim holds in shape, that is, its orderings and trends do. *No*: they differ.
*Undecided*: the test users are too few, or a fit is not at rest; such a check decides nothing. The
number that decides stands beside what the claim requires; `real_claims.csv` has every check with
its standard error and its number of users."""
WORDS = {Verdict.IN_SHAPE: "yes", Verdict.OTHERWISE: "no", Verdict.UNDECIDED: "undecided"}
SIGNS = {
    ("at least", True): "≥",
    ("at least", False): "<",
    ("at most", True): "≤",
    ("at most", False): ">",
    ("equal to", True): "=",
    ("equal to", False): "≠",
}


def place(dataset: str) -> int:
    """Place of a dataset among the others: the order of `TITLES`, then all that are not in it."""
    names = list(TITLES)
    return names.index(dataset) if dataset in names else len(names)


def lines(checks: Path, tables: Path) -> pd.DataFrame:
    """A line for every check that a run's file has of a real dataset that is not the paper's."""
    datasets = pd.read_csv(tables / "steck2020_table1.csv")["dataset"].unique()
    found = [
        {"dataset": name, **vars(check)}
        for check in read_checks(checks)
        for name in datasets
        if check.data == "other" and check.known and check.what.startswith((f"{name}:", f"{name},"))
    ]
    return pd.DataFrame(found)


def claims() -> list[tuple[Claim, dict[str, list[Check]]]]:
    """The claims of the register that the csv files decide, each with its checks by dataset."""
    checks = []
    for line in pd.read_csv(FILE).to_dict("records"):
        dataset = str(line.pop("dataset"))
        checks.append((dataset, Check(**{str(key): value for key, value in line.items()})))
    figures = {
        ATTRIBUTION: figure_attribution,
        EMPHASIS: figure_emphasis,
        CURVES: fig1_as_published,
    }
    for file, figure in figures.items():
        for dataset, of in pd.read_csv(file).groupby("dataset"):
            found = figure.checks(of)
            checks += [(str(dataset), check) for check in found if check.known]
    decided = []
    for claim in read_paper(CLAIMS, read_yaml(SCHEMA)).claims:
        own: dict[str, list[Check]] = {}
        for dataset, check in checks:
            if check.claim in claim.checks:
                own.setdefault(dataset, []).append(check)
        if own:
            decided.append((claim, own))
    return decided


def telling(checks: Sequence[Check], found: Verdict) -> Check:
    """The check to show: the first that made the verdict, and where it can, one without a doubt."""
    if found is Verdict.UNDECIDED:
        return next(check for check in checks if check.doubt)
    own = [check for check in checks if check.form in (PRINTED, CHARITABLE)]
    made = [check for check in own if check.holds == (found is Verdict.IN_SHAPE)]
    return min(made, key=lambda check: bool(check.doubt))


def cell(checks: Sequence[Check]) -> str:
    """What a dataset says of a claim, with the number that decides."""
    found = verdict(checks)
    check = telling(checks, found)
    sign = SIGNS[check.relation, check.holds]
    charitably = " (charitably)" if found is Verdict.IN_SHAPE and check.form == CHARITABLE else ""
    shown = f"{WORDS[found]}{charitably}: {check.computed:.3g} {sign} {check.expected:.3g}"
    shown = shown.replace("-", "−")
    return f"{shown}; {check.doubt}" if found is Verdict.UNDECIDED else shown


def section() -> list[str]:
    """Lines of docs/results.md."""
    decided = claims()
    names = sorted({name for _, own in decided for name in own}, key=place)
    rows = []
    for name in names:
        found = [verdict(own[name]) for _, own in decided if name in own]
        counts = " | ".join(str(found.count(each)) for each in WORDS)
        rows.append(f"| {TITLES.get(name, name)} (`{name}`) | {counts} |")
    text = [
        "## Which claims real data bear out",
        "",
        *INTRODUCTION.splitlines(),
        "",
        "| set | yes | no | undecided |",
        "|---|---|---|---|",
        *rows,
        "",
        f"| claim | {' | '.join(TITLES.get(name, name) for name in names)} |",
        f"|---|{'---|' * len(names)}",
    ]
    for claim, own in decided:
        cells = [cell(own[name]) if name in own else "not run" for name in names]
        text.append(f"| **{claim.where}.** {' '.join(claim.says.split())} | {' | '.join(cells)} |")
    return text
