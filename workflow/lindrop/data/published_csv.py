"""Write the six standard files of Liang et al.'s notebooks, byte for byte."""

import hashlib
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from lindrop.base.atomic import atomic
from lindrop.data.split import Events, Split

FILES = {
    "train": "train.csv",
    "validation/fold_in": "validation_tr.csv",
    "validation/held_out": "validation_te.csv",
    "test/fold_in": "test_tr.csv",
    "test/held_out": "test_te.csv",
}
ITEMS_FILE = "unique_sid.txt"
BODY = pa.csv.WriteOptions(include_header=False, quoting_style="none")


def write_published_csv(split: Split, folder: Path) -> None:
    """Write unique_sid.txt and the five csv files with columns uid,sid into an existing folder."""
    text = "".join(f"{item}\n" for item in split.items)
    with atomic(folder / ITEMS_FILE) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    for part, events in split.parts().items():
        _write_events(events, folder / FILES[part])


def published_sha256(split: Split) -> dict[str, str]:
    """SHA-256 of each of the six files, by name; they are written to a temporary folder."""
    with tempfile.TemporaryDirectory() as place:
        write_published_csv(split, Path(place))
        return {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(Path(place).iterdir())
        }


def _write_events(events: Events, path: Path) -> None:
    with atomic(path) as partial, partial.open("wb") as file:
        file.write(b"uid,sid\n")
        pa.csv.write_csv(pa.table({"uid": events.uid, "sid": events.sid}), file, BODY)
