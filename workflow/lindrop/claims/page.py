"""The pages of results, results/report/*.html: of a run, a paper or the datasets, each one file."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml
from markupsafe import Markup, escape

from lindrop.claims.assess import AssessedPaper, total
from lindrop.claims.comparison import Comparison
from lindrop.claims.evidence import DATA, ERRATUM_KINDS, SYMBOL, PaperView, asked, shown, view
from lindrop.claims.media import Figure, Table, by_paper, download, paper_of, pieces
from lindrop.claims.provenance import Provenance
from lindrop.claims.tables import beside
from lindrop.claims.verdicts import ACCUSING, HOLDING, MEANING, OPEN, Verdict
from lindrop.output.compare_page import ComparedDataset
from lindrop.ranking.metrics import title

# a single letter or a symbol can have a subscript, the last letter of a name like max_rss cannot
BASE = r"(?<![A-Za-z0-9_])[a-z]|[A-Z]|[^\W_a-zA-Z0-9]|[\u0300-\u036f‖∇∂Σ'’)\]]"
SUBSCRIPT = re.compile(rf"({BASE})_(?:{{([^{{}}]*)}}|([a-z0-9]+|[^\W_]|\*))")
SUPERSCRIPT = re.compile(r"\^(?:{([^{}]*)}|([A-Za-z0-9]+|\([^()]*\)))")


@dataclass(frozen=True)
class Content:
    """Everything that the page shows."""

    papers: Sequence[AssessedPaper]
    figures: Sequence[Figure]
    tables: Sequence[Table]
    table1: Comparison | None  # where the page shows it
    provenance: Provenance
    config: Mapping[str, Any]
    compared: Sequence[ComparedDataset] = ()  # of the page that compares models


def generated(config: Mapping[str, Any]) -> set[str]:
    """Names of the datasets of a configuration that are generated."""
    datasets = config.get("datasets", {})
    return {name for name, entry in datasets.items() if entry["source"]["format"] == "synthetic"}


def render(content: Content, templates: Path) -> str:
    """HTML of the page, from page.html.j2, page.css and page.js; all texts are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    scripts = ["page.js", *(["claims.js"] if content.papers else [])]
    script = "\n".join((templates / name).read_text(encoding="utf-8") for name in scripts)
    html: str = environment.get_template("page.html.j2").render(
        **_context(content),
        style=Markup((templates / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        digest=_digest(script),
    )
    return html


def _digest(script: str) -> str:
    """Hash by which the page's content security policy allows this script and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _context(content: Content) -> dict[str, Any]:
    figures, tables = content.figures, content.tables
    papers = [
        view(paper, [figure.id for figure in figures], [table.id for table in tables])
        for paper in content.papers
    ]
    return {
        "papers": papers,
        "verdicts": list(Verdict),
        "holding": HOLDING,
        "accusing": ACCUSING,
        "open": OPEN,
        "erratum_kinds": ERRATUM_KINDS,
        "counts": total(content.papers),
        "meaning": MEANING,
        "symbol": SYMBOL,
        "data": DATA,
        "kinds": _kinds(papers),
        "figures": {figure.id: figure for figure in figures},
        "tables": {table.id: table for table in tables},
        "gallery": list(by_paper(figures)),
        "table1": content.table1,
        "criterion": title(content.config["criterion"]),
        "metrics": content.table1.metrics if content.table1 else {},
        "provenance": content.provenance,
        "generated": sorted(generated(content.config)),
        "config": yaml.safe_dump(dict(content.config), sort_keys=False, allow_unicode=True),
        "seed": content.config["seed"],
        "compared": content.compared,
        "paper_of": paper_of,
        "download": download,
    }


def _kinds(papers: Sequence[PaperView]) -> list[str]:
    return sorted({claim.assessed.entry.kind for paper in papers for claim in paper.claims})


def duration(seconds: float) -> str:
    """Duration as text, such as `2 h 5 min`, `3 min 20 s` or `4.5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def typeset(text: str) -> Markup:
    """Text as escaped HTML, with subscripts and superscripts as in a_i, a_{i+1} and θ^{1/r}."""
    lowered = SUBSCRIPT.sub(
        lambda match: f"{match[1]}<sub>{match[2] or match[3]}</sub>", str(escape(text))
    )
    return Markup(SUPERSCRIPT.sub(lambda match: f"<sup>{match[1] or match[2]}</sup>", lowered))


FILTERS = {
    "asked": asked,
    "duration": duration,
    "pieces": pieces,
    "beside": beside,
    "shown": shown,
    "typeset": typeset,
}
