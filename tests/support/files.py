"""Small files in the published layouts, and ways to damage them."""

import gzip
import io
import tarfile
import threading
import zipfile
from contextlib import contextmanager

RATINGS = [  # user, item, rating, in file order
    ("12", "5", "4.0"),
    ("12", "7", "3.5"),
    ("3", "5", "5.0"),
    ("3", "11", "1.0"),
    ("12", "11", "4.5"),
    ("40", "7", "4.0"),
]


def ratings_csv(rows=RATINGS, end="\r\n"):
    return f"userId,movieId,rating,timestamp{end}" + "".join(
        f"{u},{i},{r},96498{end}" for u, i, r in rows
    )


def ratings_dat(rows=RATINGS):
    return "".join(f"{u}::{i}::{r[0]}::96498\n" for u, i, r in rows)


def u_data(rows=RATINGS):
    return "".join(f"{u}\t{i}\t{r[0]}\t96498\n" for u, i, r in rows)


def triplets(rows=RATINGS):
    return "".join(f"{u}\t{i}\t{r[0]}\n" for u, i, r in rows)


def films(rows=RATINGS):
    """Netflix's text of each film, by film."""
    texts = {}
    for user, item, rating in rows:
        texts.setdefault(int(item), f"{item}:\n")
        texts[int(item)] += f"{user},{rating[0]},2005-09-06\n"
    return texts


@contextmanager
def serving(server):
    """Run a web server in a thread for as long as it is needed."""
    server.handle_error = lambda *args: None  # clients that hang up are part of the tests
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tar_of(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def write_netflix_tar(path, texts):
    inner = tar_of({f"training_set/mv_{film:07d}.txt": t.encode() for film, t in texts.items()})
    outer = tar_of({"download/README": b"x", "download/training_set.tar": inner})
    path.write_bytes(gzip.compress(outer))
    return path


def cut_short(path, keep=0.6):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    return path
