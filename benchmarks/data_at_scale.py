"""Time and memory of reading and splitting files of the published formats and sizes.

    python benchmarks/data_at_scale.py [folder]

Generates files in the exact published formats and sizes (random contents, long tails), then
measures the wall time and peak memory of each step in its own process. The baseline is a plain
pandas.read_csv of the two id columns of the same text. Needs about 12 GB of disk in `folder`
(default: a temporary one) and some minutes. Writes benchmarks/results/data_at_scale.csv.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from lindrop.base.stopwatch import peak_bytes
from lindrop.data.formats import read_interactions
from lindrop.data.split import Protocol, split
from lindrop.data.synthetic.generator import generate
from lindrop.data.synthetic.recipe import Recipe
from lindrop.store.interactions import read_interactions as load
from lindrop.store.interactions import write_interactions
from lindrop.store.split import write_split

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "benchmarks" / "results" / "data_at_scale.csv"
BLOCK = 2_000_000
BODY = {"include_header": False, "quoting_style": "none"}
SETS = {
    "ml-20m": (Recipe(138_493, 26_744, 20_000_263, 20, 1), Protocol(10_000, 3.5, 5)),
    "msd": (Recipe(1_019_318, 384_546, 48_373_586, 10, 1), Protocol(50_000, None, 20, 200)),
    "netflix": (Recipe(480_189, 17_770, 100_480_507, 1, 3), Protocol(40_000, 3.5, 5)),
}
FORMATS = {"ml-20m": "movielens", "msd": "msd", "netflix": "netflix"}


def make(name: str, folder: Path) -> dict[str, Path]:
    """Generate the files of one set: its plain text, and the archive as published."""
    user, item = generate(SETS[name][0], seed=1)
    return {"ml-20m": make_movielens, "msd": make_msd, "netflix": make_netflix}[name](
        user, item, np.random.default_rng(0), folder
    )


def make_movielens(user, item, random, folder):
    """Generate ratings.csv of MovieLens 20M and its zip."""
    plain = folder / "ratings.csv"
    with plain.open("wb") as file:
        file.write(b"userId,movieId,rating,timestamp\r\n")
        for block in blocks(user):
            rows = len(user[block])
            table = pa.table(
                {
                    "user": user[block] + 1,
                    "item": item[block] * 5 + 1,
                    "rating": random.integers(1, 11, rows) / 2,
                    "time": random.integers(8e8, 15e8, rows),
                }
            )
            file.write(text_of(table).replace(b"\n", b"\r\n"))
    return {"plain": plain, "archive": zipped(plain, folder / "ml-20m.zip", "ml-20m/ratings.csv")}


def make_msd(user, item, random, folder):
    """Generate train_triplets.txt of the Million Song Dataset and its zip."""
    users = hexadecimal(random, user.max() + 1, 20, "")
    songs = hexadecimal(random, item.max() + 1, 8, "SO")
    plain = folder / "train_triplets.txt"
    with plain.open("wb") as file:
        for block in blocks(user):
            table = pa.table(
                {
                    "user": users.take(pa.array(user[block])),
                    "song": songs.take(pa.array(item[block])),
                    "count": random.integers(1, 10, len(user[block])),
                }
            )
            file.write(text_of(table, delimiter="\t"))
    archive = zipped(plain, folder / "train_triplets.txt.zip", plain.name)
    return {"plain": plain, "archive": archive}


def make_netflix(user, item, random, folder):
    """Generate Netflix ratings as one text in Kaggle's layout, and as the original nested tar."""
    order = np.argsort(item, kind="stable")
    ends = np.cumsum(np.bincount(item))
    plain = folder / "combined_data_1.txt"
    inner = folder / "training_set.tar"
    with plain.open("wb") as file, tarfile.open(inner, "w") as films:
        for film, (start, end) in enumerate(zip(ends - np.bincount(item), ends, strict=True), 1):
            rows = int(end - start)
            table = pa.table(
                {
                    "user": user[order[start:end]] * 5 + 6,
                    "rating": random.integers(1, 6, rows),
                    "date": pa.array(np.full(rows, "2005-09-06")),
                }
            )
            text = f"{film}:\n".encode() + text_of(table)
            file.write(text)
            info = tarfile.TarInfo(f"training_set/mv_{film:07d}.txt")
            info.size = len(text)
            films.addfile(info, io.BytesIO(text))
    archive = folder / "nf_prize_dataset.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as outer:
        outer.add(inner, "download/training_set.tar")
    inner.unlink()
    return {"plain": plain, "archive": archive}


def blocks(rows):
    """Slices of BLOCK rows that cover all rows."""
    return [slice(start, start + BLOCK) for start in range(0, len(rows), BLOCK)]


def text_of(table: pa.Table, delimiter: str = ",") -> bytes:
    """Table as csv text without a header."""
    buffer = io.BytesIO()
    pa.csv.write_csv(table, buffer, pa.csv.WriteOptions(delimiter=delimiter, **BODY))
    return buffer.getvalue()


def hexadecimal(random, count, length, prefix):
    """Random ids: a prefix and `length` bytes in hexadecimal."""
    digits = random.bytes(count * length).hex()
    step = 2 * length
    return pa.array([prefix + digits[k * step : (k + 1) * step] for k in range(count)])


def zipped(plain, archive, name):
    """Path of a new zip that holds one file under a name."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.write(plain, name)
    return archive


def pandas_of(name: str, path: Path) -> None:
    """Baseline: read the two id columns by pandas (of Netflix all, because of its film lines)."""
    if name == "ml-20m":
        pd.read_csv(path, usecols=["userId", "movieId"])
    elif name == "msd":
        pd.read_csv(path, sep="\t", header=None, usecols=[0, 1])
    else:
        pd.read_csv(path, header=None, names=["user", "rating", "date"])


def step(what: str, name: str, path: Path, out: Path) -> None:
    """Run one step in this process and print its time and peak memory."""
    start = time.perf_counter()
    if what == "pandas":
        pandas_of(name, path)
    elif what == "read":
        data = read_interactions(path, FORMATS[name], min_rating=SETS[name][1].min_rating)
        write_interactions(out / "interactions.h5", data, {"format": FORMATS[name]})
    else:
        data, source = load(out / "interactions.h5")
        write_split(out / "split.h5", split(data, SETS[name][1]), source)
    seconds = time.perf_counter() - start
    print(f"{seconds:.1f},{peak_bytes() / 1e9:.2f}")


def measured(what: str, name: str, path: Path, folder: Path) -> dict[str, object]:
    """Row of results for one step, run in a new process."""
    command = [sys.executable, __file__, "--step", what, name, str(path), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, peak = map(float, done.stdout.strip().split(","))
    row = {"set": name, "step": what, "file": path.name, "seconds": seconds, "peak GB": peak}
    print(row, flush=True)
    return row


def main(folder: Path) -> None:
    rows = []
    for name in SETS:
        files = make(name, folder)
        rows.append(measured("pandas", name, files["plain"], folder))
        rows += [measured("read", name, files[kind], folder) for kind in ("plain", "archive")]
        rows.append(measured("split", name, files["plain"], folder))
        for file in files.values():
            file.unlink()
    OUTPUT.parent.mkdir(exist_ok=True)
    pd.DataFrame(rows).assign(cores=os.cpu_count()).to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step(sys.argv[2], sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))
    elif sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
