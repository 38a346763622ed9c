"""Whether a dataset is proven to be the published one and may be compared with a paper."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lindrop.base.errors import UserError
from lindrop.data.interactions import RawCounts
from lindrop.data.split import AnyProtocol, Counts, settings_of

Facts = tuple[Counts, AnyProtocol, dict[str, Any]]


def verified_by_counts(
    receipt: Mapping[str, Any], raw: RawCounts, stated: Mapping[str, int | None], file: str
) -> dict[str, Any]:
    """The receipt of a file, verified by its counts if it has no published checksum.

    Each stated count must equal the measured one, or a UserError is raised. Counts prove the file
    only if all three (rows, users, items) are stated.
    """
    measured = asdict(raw)
    for name, expected in stated.items():
        if expected is not None and measured[name] != expected:
            raise UserError(
                f"{file}: {measured[name]:,} {name} instead of {expected:,}; the file is cut short "
                f"or another version: replace it, or set {name} of its entry to null"
            )
    by_counts = "counts" if all(value is not None for value in stated.values()) else None
    others = {part: receipt[part] for part in ("test", "validation") if part in receipt}
    all_proven = all(other["verified_by"] for other in others.values())
    proven = receipt["verified_by"] if all_proven else None
    checked = receipt["checked"]
    if others:  # a fact of one file says nothing about the others
        files = {"training": receipt, **others}
        checked = [f"{part} file: {fact}" for part in files for fact in files[part]["checked"]]
    counted = [f"{name} stated" for name, value in stated.items() if value is not None]
    return dict(receipt) | {
        "verified_by": proven or by_counts,
        "checked": [*checked, *counted],
    }


def check_label(source: Mapping[str, Any]) -> str:
    """Label of a data file in tables: synthetic, verified by its proof, or unverified.

    An unverified file is labelled with what was compared, though that does not prove it.
    """
    if source["format"] == "synthetic":
        return "synthetic"
    if source["verified_by"]:
        return f"verified by {source['verified_by']}"
    checked = source.get("checked")
    return f"unverified (checked: {', '.join(checked)})" if checked else "unverified"


def dataset_row(
    name: str, facts: Facts, column: str | None, published: Mapping[str, Any]
) -> dict[str, Any]:
    """One row of the table of datasets: our counts, and the paper's if they are comparable."""
    counts, protocol, source = facts
    row = {
        "dataset": name,
        "source": check_label(source),
        "items": counts.items,
        "users": counts.users,
        "interactions": counts.interactions,
        "heldout_users": protocol.heldout_users,
        "duplicate_rows": counts.duplicate_rows,
    }
    paper = published[column] if column and comparable(facts, published[column]) else {}
    return row | {f"paper_{key}": paper.get(key) for key in ("items", "users", "interactions")}


def comparable(facts: Facts, published: Mapping[str, Any]) -> bool:
    """Whether a paper's numbers apply: the file is verified and split by the paper's protocol."""
    _, protocol, source = facts
    return bool(source.get("verified_by")) and published["protocol"] == settings_of(protocol)
