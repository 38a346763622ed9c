"""The papers' experiments without data: their measured times, at the configured sizes."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lindrop.planning import cost
from lindrop.planning.sizes import DataSize

PIXELS = {"mnist": 784, "cifar10": 3072}
NETWORKS = 2  # activations, tanh and relu
PER_ITEM = ("steck2020_fig1_center", "steck2020_fig1_right")
PER_ROW = ("steck2020_embeddings", "dataset_long_tails")


@dataclass(frozen=True)
class Experiment:
    """Jobs of a rule: their number, the seconds of each on one core, and the bytes of memory."""

    rule: str
    jobs: int
    seconds: float
    memory: float


def of_papers(config: Mapping[str, Any], sizes: Sequence[DataSize]) -> list[Experiment]:
    """All jobs of a default run that tune and fit nothing, at the sizes of a configuration."""
    found = []
    for row in _measured():
        name, seconds, memory = (
            row["job"],
            float(row["seconds"]),
            1e6 * float(row["megabytes"] or 0),
        )
        if name == "start" or name.startswith(("pretorius2018_train", "pretorius2018_images.")):
            continue
        found.append(Experiment(name, 1, seconds * _factor(name, config, sizes, row), memory))
    for images in config["pretorius2018"]["images"]:
        found += _networks(images, config["pretorius2018"][images])
    return found


def _measured() -> list[dict[str, str]]:
    with cost.JOBS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _factor(
    name: str, config: Mapping[str, Any], sizes: Sequence[DataSize], row: Mapping[str, str]
) -> float:
    """How many times longer than measured a job takes with this configuration and these data."""
    default = float(row["of"] or 1)
    if name == "mianjy2018_convergence":
        return float(config["mianjy2018"]["runs"]) / default
    if row["of"] and name.startswith("pal2020_"):
        return float(config["pal2020"]["iterations"]) / default
    if name in PER_ITEM:
        return max(1.0, sum(size.items for size in sizes) / default)
    if name in PER_ROW:
        return max(1.0, sum(size.rows for size in sizes) / default)
    if name == "pretorius2018_images_linear":
        own = config["pretorius2018"]
        return max(
            1.0, sum(_work(images, own[images], "linear") for images in own["images"]) / default
        )
    return 1.0


def _work(images: str, settings: Mapping[str, Any], part: str) -> float:
    """Multiplications of a training on images; a linear one trains on their second moments."""
    pixels = PIXELS.get(images) or settings["side"] ** 2
    own = settings[part]
    count = settings["count"] if part == "network" else pixels
    return float(count * pixels * own["hidden"] * own["epochs"])


def _networks(images: str, settings: Mapping[str, Any]) -> list[Experiment]:
    """Trainings of an image set, by the rate at its size, and the job that prepares the images."""
    rows = [row for row in _measured() if row["job"].startswith("pretorius2018_train")]
    points = sorted((float(row["of"]), float(row["of"]) / float(row["seconds"])) for row in rows)
    needed = _work(images, settings, "network")
    (small, low), (large, high) = points[0], points[-1]
    share = min(max(math.log(needed / small) / math.log(large / small), 0.0), 1.0)
    seconds = needed / (low * (high / low) ** share)
    noise = settings["network"]["noise"]
    kinds = 3 + (noise**0.5 != noise)
    pixels = PIXELS.get(images) or settings["side"] ** 2
    memory = 1e8 + 12.0 * settings["count"] * pixels
    return [
        *(
            Experiment(rule, 1, 1.0, memory)
            for rule in ("fetch", "read_images")
            if images in PIXELS
        ),
        Experiment("pretorius2018_images", 1, 0.5 + 2e-8 * settings["count"] * pixels, memory),
        Experiment("pretorius2018_train", NETWORKS * kinds, seconds, memory),
    ]
