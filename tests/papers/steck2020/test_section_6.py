"""What Steck 2020 says of its datasets and small experiments, once true and once false."""

import hashlib
import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import yaml

from lindrop.claims.verdicts import Verdict, verdict
from lindrop.data.published_csv import published_sha256, write_published_csv
from lindrop.data.split import Counts, Protocol
from lindrop.papers.steck2020.datasets import (
    Dataset,
    dataset_checks,
    number,
    shared_entries,
    split_checks,
)
from lindrop.papers.steck2020.popular import CONSTRAINED, EMPHASISED
from lindrop.papers.steck2020.section_6 import popular_checks
from lindrop.store.split import write_split
from support.repository import REPOSITORY
from support.splits import random_split
from support.steck2020 import NETFLIX, ONE, PRINTED_PROPERTIES, PROPERTIES, failing, of, popular


def test_properties_of_the_data():
    row = PROPERTIES | PRINTED_PROPERTIES
    assert failing(dataset_checks(NETFLIX, row, 0)) == set()
    for wrong in ({"items": 17_768}, {"users": 463_434}, {"interactions": 58_000_000}):
        assert failing(dataset_checks(NETFLIX, row | wrong, 0)) == {"table1_datasets"}
    assert failing(dataset_checks(NETFLIX, row | {"duplicate_rows": 1}, 0)) == {"section_6_binary"}
    assert failing(dataset_checks(NETFLIX, row, 3)) == {"section_6_disjoint"}
    assert verdict(of("table1_datasets", dataset_checks(ONE, PROPERTIES, 0))) == Verdict.NOT_RUN
    assert number("10 mil.") == 10


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        ({}, set()),
        ({("similar items", "Parseval", "decoder"): 0.41}, {"section_5_parseval"}),
        ({("all pairs", "Parseval", "encoder"): 0.41}, {"section_5_parseval"}),
        ({("similar items", "spread-out", "encoder"): 0.41}, {"section_5_spread_out"}),
        ({("similar items", "GLaS", "encoder"): 0.41}, {"section_5_glas"}),
        ({("similar items", CONSTRAINED, "encoder"): 0.41}, {"section_5_constrained"}),
        ({("iterations", CONSTRAINED, ""): 61}, {"supplement_4_iterations"}),
        ({("all pairs", CONSTRAINED, "encoder"): 0.41}, set()),
        ({("diagonal", EMPHASISED, ""): 0.15}, {"section_4_1_2_diagonal"}),
        ({("loss in paired errors", "full rank", ""): -1}, {"section_6_suffers"}),
        ({("training error", "full rank", "tiny λ"): 0.31}, {"section_6_suffers"}),
    ],
)
def test_small_experiments(change, claims):
    found = popular_checks(NETFLIX, popular(change))
    assert failing(found) == claims
    assert {check.data for check in found} == {"other"}, "popular items are not the paper's data"
    generated = Dataset("demo", "synthetic")
    assert {check.data for check in popular_checks(generated, popular())} == {"synthetic"}


def test_entries_that_are_given_and_asked():
    given = sp.csr_array(np.array([[1, 1, 0], [0, 1, 0]]))
    asked = sp.csr_array(np.array([[0, 0, 1], [1, 1, 0]]))
    assert shared_entries(given, asked) == 1
    assert shared_entries(given[:1], asked[:1]) == 0


def test_only_a_proven_split_of_the_papers_protocol_is_the_papers():
    published = yaml.safe_load(
        (REPOSITORY / "config" / "paper_values" / "steck2020_datasets.yaml").read_text()
    )
    protocol = Protocol(**published["ML-20M"]["protocol"])
    counts = Counts(**dict.fromkeys(inspect.signature(Counts).parameters, 1))
    proven = {"format": "movielens", "verified_by": "sha256"}

    def kind(source, protocol, column="ML-20M"):
        return Dataset.of("x", (counts, protocol, source), column, published)

    assert kind(proven, protocol) == Dataset("x", "published", "ML-20M")
    assert kind(proven, protocol, None) == Dataset("x", "other")
    assert kind(proven | {"verified_by": None}, protocol) == Dataset("x", "other")
    assert kind(proven, Protocol(heldout_users=5)) == Dataset("x", "other")
    assert kind({"format": "synthetic"}, protocol) == Dataset("x", "synthetic")


def test_a_split_is_the_published_one_byte_for_byte_or_the_claim_fails(tmp_path):
    """The bytes of the golden files of tests/data/test_split.py decide what is written."""
    made = random_split()
    write_published_csv(made, tmp_path)
    digests = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in tmp_path.iterdir()
    }
    assert published_sha256(made) == digests
    write_split(tmp_path / "split.h5", made, {"format": "csv"})
    write_split(tmp_path / "other.h5", random_split(1), {"format": "csv"})
    published = {name: digests[name] for name in ("unique_sid.txt", "test_te.csv")}
    assert failing(split_checks(NETFLIX, tmp_path / "split.h5", published)) == set()
    assert failing(split_checks(NETFLIX, tmp_path / "other.h5", published)) == {"section_6_split"}
    for dataset, known in (ONE, published), (NETFLIX, {}):
        found = split_checks(dataset, tmp_path / "split.h5", known)
        assert verdict(found) == Verdict.NOT_RUN
