"""Write a table as four files: csv for programs, Markdown, HTML, and LaTeX for papers."""

import html
import re
from pathlib import Path
from typing import Protocol

import pandas as pd

from lindrop.base.atomic import atomic

MISSING = "–"
LATEX_SPECIAL = re.compile(r"([&%$#_{}])")
LATEX_SYMBOLS = {  # symbols that pdflatex does not know
    "Λ̃": r"$\tilde\Lambda$",
    "λ": r"$\lambda$",
    "±": r"$\pm$",
    "−": "$-$",
    "⚠": r"\textbf{!}",
}


class TableFiles(Protocol):
    """Paths of the files of a table."""

    csv: str
    md: str
    html: str
    tex: str


def write_table(
    frame: pd.DataFrame, files: TableFiles, caption: str, shown: pd.DataFrame | None = None
) -> None:
    """Write `frame` as csv, and as Markdown, HTML and LaTeX (which needs the package booktabs).

    The last three show `shown` instead if it is given, for example with rounded numbers.
    """
    with atomic(files.csv) as partial:
        frame.to_csv(partial, index=False, lineterminator="\n")
    frame = frame if shown is None else shown
    shown = pd.DataFrame({_heading(str(name)): frame[name].map(_shown) for name in frame})
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame]
    aligned = ["right" if number else "left" for number in numeric]
    with atomic(files.md) as partial:
        plain = shown.map(lambda text: text.replace("|", r"\|"))
        table = plain.to_markdown(index=False, colalign=aligned, disable_numparse=True)
        partial.write_text(f"{caption}\n\n{table}\n", encoding="utf-8")
    with atomic(files.html) as partial:
        partial.write_text(_html(shown, numeric, caption), encoding="utf-8")
    with atomic(files.tex) as partial:
        partial.write_text(_latex(shown, numeric, caption, Path(files.tex).stem), encoding="utf-8")


def _html(shown: pd.DataFrame, numeric: list[bool], caption: str) -> str:
    """A complete HTML page, with light and dark mode, that loads nothing from elsewhere."""
    right = ", ".join(f"td:nth-child({k})" for k, number in enumerate(numeric, 1) if number)
    caption, table = html.escape(caption), shown.to_html(index=False, border=0)
    style = (
        ":root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }"
        "body { margin: 1rem; overflow-x: auto } table { border-collapse: collapse }"
        "th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid #8886 }"
        "td { white-space: nowrap; font-variant-numeric: tabular-nums } h1 { font-size: 1.3rem }"
        + (f"{right} {{ text-align: right }}" if right else "")
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{caption}</title>\n<style>{style}</style>\n<h1>{caption}</h1>\n{table}\n</html>\n"
    )


def _heading(name: str) -> str:
    """Column name for readers."""
    return name.replace("_", " ")


def _shown(value: object) -> str:
    """Cell for readers: a dash for a missing value, thousands separators in whole numbers."""
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return MISSING
    return f"{value:,}" if isinstance(value, int) else str(value)


def _latex(shown: pd.DataFrame, numeric: list[bool], caption: str, label: str) -> str:
    """A LaTeX table environment with caption and label."""
    escaped = shown.map(_escaped).rename(columns=_escaped)
    text: str = escaped.style.hide(axis="index").to_latex(
        column_format="".join("r" if number else "l" for number in numeric),
        caption=_escaped(caption),
        label=f"tab:{label}",
        hrules=True,
    )
    return text


def _escaped(text: str) -> str:
    """Text with LaTeX's special characters escaped and symbols as commands."""
    escaped = LATEX_SPECIAL.sub(r"\\\1", text.replace("\\", r"\textbackslash "))
    for symbol, command in LATEX_SYMBOLS.items():
        escaped = escaped.replace(symbol, command)
    return escaped
