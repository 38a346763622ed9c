"""Figures and tables of a run, in the form in which the page of results embeds them."""

import base64
import csv
import gzip
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

MISSING = "–"
CODE = re.compile(r"``(.+?)``")


@dataclass(frozen=True)
class Figure:
    """A figure, results/figures/<id>.png, whose numbers are in the csv file of the same name."""

    id: str
    title: str
    caption: str
    png: Path

    @property
    def csv(self) -> Path:
        """File with the numbers that the figure shows."""
        return self.png.with_suffix(".csv")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, from the header of the PNG."""
        width, height = struct.unpack(">II", self.png.read_bytes()[16:24])
        return width, height

    @property
    def image(self) -> str:
        """The PNG as a data URI."""
        return data_uri(self.png.read_bytes(), "image/png")


@dataclass(frozen=True)
class Table:
    """A table, results/tables/<id>.html, whose content is also in the csv file of the same name."""

    id: str
    title: str
    caption: str
    html: Path

    @property
    def csv(self) -> Path:
        """File with the content of the table."""
        return self.html.with_suffix(".csv")

    @property
    def rows(self) -> list[list[str]]:
        """Rows of cells as readable text, the heading first."""
        with self.csv.open(encoding="utf-8", newline="") as file:
            heading, *lines = csv.reader(file)
        names = [name.replace("_", " ") for name in heading]
        return [names, *([*map(_cell, heading, line)] for line in lines)]


Medium = TypeVar("Medium", Figure, Table)


def by_paper(media: Iterable[Medium]) -> Iterator[tuple[str, list[Medium]]]:
    """Yield the name of each paper with its figures or tables, which must be sorted by paper."""
    for name, group in groupby(media, key=lambda medium: paper_of(medium.id)):
        yield name, list(group)


def paper_of(identifier: str) -> str:
    """Paper that an id belongs to: `Pal 2020` for pal2020_fig1 or pal2020, `Data` if none."""
    match = re.match(r"([a-z]+)(\d{4})(_|$)", identifier)
    return f"{match[1].title()} {match[2]}" if match else "Data"


def download(file: Path) -> str:
    """File compressed by gzip, as a data URI; the same bytes at every call."""
    return data_uri(gzip.compress(file.read_bytes(), mtime=0), "application/gzip")


def data_uri(content: bytes, kind: str) -> str:
    """Data URI of some content with the given media type."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def caption_of(file: Path) -> str:
    """Text of a caption file on one line; empty if the file does not exist."""
    return " ".join(file.read_text(encoding="utf-8").split()) if file.is_file() else ""


def pieces(caption: str) -> list[tuple[str, bool]]:
    """Parts of a caption, each with whether it is code (between double backquotes)."""
    parts = [(text, bool(k % 2)) for k, text in enumerate(CODE.split(caption))]
    return [part for part in parts if part[0]]


def _cell(column: str, text: str) -> str:
    """Text of a cell: whole numbers with commas, others with four digits after the point.

    Names of datasets are left as they are, since a dataset may be called 2019.
    """
    if column == "dataset":
        return text
    try:
        return f"{int(text):,}"
    except ValueError:
        if re.fullmatch(r"-?\d+\.\d{5,}", text):
            return f"{float(text):.4f}"
        return text or MISSING
