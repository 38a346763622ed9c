"""Figures and tables as they go into a page that is one file."""

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
    """results/figures/<id>.png, with what it shows beside it as csv."""

    id: str
    title: str
    caption: str
    png: Path

    @property
    def csv(self) -> Path:
        return self.png.with_suffix(".csv")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, from the header of the PNG."""
        width, height = struct.unpack(">II", self.png.read_bytes()[16:24])
        return width, height

    @property
    def image(self) -> str:
        return data_uri(self.png.read_bytes(), "image/png")


@dataclass(frozen=True)
class Table:
    """results/tables/<id>.html, with the same beside it as csv."""

    id: str
    title: str
    caption: str
    html: Path

    @property
    def csv(self) -> Path:
        return self.html.with_suffix(".csv")

    @property
    def rows(self) -> list[list[str]]:
        """For readers, the heading first."""
        with self.csv.open(encoding="utf-8", newline="") as file:
            heading, *lines = csv.reader(file)
        names = [name.replace("_", " ") for name in heading]
        return [names, *([_cell(text) for text in line] for line in lines)]


Medium = TypeVar("Medium", Figure, Table)


def by_paper(media: Iterable[Medium]) -> Iterator[tuple[str, list[Medium]]]:
    """In the given order, with the heading of each group."""
    for name, group in groupby(media, key=lambda medium: paper_of(medium.id)):
        yield name, list(group)


def paper_of(identifier: str) -> str:
    """`Pal 2020` of pal2020_fig1 or of pal2020; `Data` of what belongs to no paper."""
    match = re.match(r"([a-z]+)(\d{4})(_|$)", identifier)
    return f"{match[1].title()} {match[2]}" if match else "Data"


def download(file: Path) -> str:
    """A file, compressed, as a data URI; the same bytes every time."""
    return data_uri(gzip.compress(file.read_bytes(), mtime=0), "application/gzip")


def data_uri(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def caption_of(file: Path) -> str:
    """The text of a caption; nothing where there is none."""
    return " ".join(file.read_text(encoding="utf-8").split()) if file.is_file() else ""


def pieces(caption: str) -> list[tuple[str, bool]]:
    """The parts of a caption, and whether each is code."""
    parts = [(text, bool(k % 2)) for k, text in enumerate(CODE.split(caption))]
    return [part for part in parts if part[0]]


def _cell(text: str) -> str:
    try:
        return f"{int(text):,}"
    except ValueError:
        return text or MISSING
