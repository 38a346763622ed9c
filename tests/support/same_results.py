"""Whether two runs have the same results, byte for byte but for times: digests to compare.

    PYTHONPATH=workflow:tests python -m support.same_results OLD/results NEW/results

prints what is only in one of two folders, or differs. Checks are compared one by one, so runs from
before the house was rebuilt, which had a file for every claim, can be compared with later ones.
"""

import hashlib
import io
import json
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

NO_RESULTS = ("logs/", "benchmarks/", "report")
COSTS = ["seconds", "megabytes"]  # columns of tables, attributes of metrics


def contents(results, across_versions=False):
    """A digest of every result in a folder, but of drawings and times; of every claim's checks.

    Files are compared byte for byte where they hold no times; across versions, by what they hold.
    """
    files = (file for file in results.rglob("*") if file.suffix in {".h5", ".csv", ".json"})
    names = {file.relative_to(results).as_posix(): file for file in files}
    parts = {
        part: content
        for name, file in names.items()
        if not name.startswith(NO_RESULTS)
        for part, content in _parts(name, file, across_versions)
    }
    return {part: hashlib.sha256(content).hexdigest() for part, content in parts.items()}


def _parts(name, file, across_versions):
    """What of a file is compared: its claims, else the whole of it."""
    if file.suffix == ".json" and name.startswith("experiments/"):
        return _claims(file)
    if not across_versions and file.suffix != ".csv" and file.parts[-3] != "metrics":
        return [(name, file.read_bytes())]
    return [(name, _without_times(file))]


def _claims(file):
    """The checks of every claim in a file.

    Such a file held first a claim and its checks, then a list of checks, then also a checksum.
    """
    stored = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(stored, list):
        stored = {"checks": stored}
    one = {"claim": stored["claim"]} if "claim" in stored else {}
    lines = [one | line for line in stored["checks"]]
    by_claim = {}
    for line in lines:
        by_claim.setdefault(line["claim"], []).append(line)
    folder = f"experiments/{file.parent.name}"
    return [(f"{folder}/{claim}", json.dumps(own).encode()) for claim, own in by_claim.items()]


def _without_times(file):
    """What a file holds, but for checksums, which older runs lack, and for what something took."""
    if file.suffix == ".h5":
        return _arrays(file, COSTS if file.parts[-3] == "metrics" else [])
    if file.suffix == ".json":
        stored = json.loads(file.read_text(encoding="utf-8"))
        stored.pop("crc32", None)
        return json.dumps(stored).encode()
    text = file.read_text(encoding="utf-8")
    if text.partition("\n")[0].endswith(",crc32"):
        text = re.sub(",(crc32|[0-9a-f]{8})$", "", text, flags=re.MULTILINE)
    if "seconds" in (table := pd.read_csv(io.StringIO(text))):
        return table.drop(columns=COSTS, errors="ignore").to_csv().encode()
    return text.encode()


def _arrays(file, left_out):
    """Every array and attribute of an HDF5 file but the attributes left out."""
    found = []

    def add(name, entry):
        attributes = {key: str(entry.attrs[key]) for key in entry.attrs if key not in left_out}
        values = entry[()] if isinstance(entry, h5py.Dataset) else np.empty(0)
        content = repr(values.tolist()).encode() if values.dtype == object else values.tobytes()
        digest = hashlib.sha256(content).hexdigest()
        found.append((name, sorted(attributes.items()), values.shape, str(values.dtype), digest))

    with h5py.File(file) as stored:
        add("/", stored)
        stored.visititems(add)
    return repr(found).encode()


def differences(old, new):
    """A line for every result that only one folder has, or that is another in each."""
    before, after = contents(old, across_versions=True), contents(new, across_versions=True)
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"only in {old}: {name}"
        elif name not in before:
            yield f"only in {new}: {name}"
        elif before[name] != after[name]:
            yield f"differs: {name}"


if __name__ == "__main__":
    found = list(differences(*map(Path, sys.argv[1:])))
    print("\n".join(found) or "the same")
    sys.exit(bool(found))
