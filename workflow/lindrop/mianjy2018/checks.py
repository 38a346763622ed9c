"""All checks of Mianjy 2018 that need no figure."""

from lindrop.checks import Check
from lindrop.mianjy2018.algorithms import algorithm_checks
from lindrop.mianjy2018.autoencoders import autoencoder_checks
from lindrop.mianjy2018.geometry import geometry_checks
from lindrop.mianjy2018.lemmas import lemma_checks
from lindrop.mianjy2018.networks import network_checks


def all_checks(seed: int) -> list[Check]:
    parts = (lemma_checks, autoencoder_checks, network_checks, geometry_checks, algorithm_checks)
    return [check for part in parts for check in part(seed)]
