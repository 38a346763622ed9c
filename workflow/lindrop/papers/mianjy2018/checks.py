"""All checks of Mianjy 2018 that need no figure."""

from lindrop.claims.checks import Check
from lindrop.papers.mianjy2018.algorithms import algorithm_checks
from lindrop.papers.mianjy2018.appendix_d import appendix_d_checks
from lindrop.papers.mianjy2018.autoencoders import autoencoder_checks
from lindrop.papers.mianjy2018.costs import cost_checks
from lindrop.papers.mianjy2018.equalisation import equalisation_checks
from lindrop.papers.mianjy2018.escapes import escape_checks
from lindrop.papers.mianjy2018.expectations import expectation_checks
from lindrop.papers.mianjy2018.geometry import geometry_checks
from lindrop.papers.mianjy2018.invariance import invariance_checks
from lindrop.papers.mianjy2018.joint import joint_checks
from lindrop.papers.mianjy2018.lemmas import lemma_checks
from lindrop.papers.mianjy2018.networks import network_checks
from lindrop.papers.mianjy2018.shrinkage import shrinkage_checks

PARTS = (
    expectation_checks,
    lemma_checks,
    invariance_checks,
    equalisation_checks,
    autoencoder_checks,
    network_checks,
    joint_checks,
    shrinkage_checks,
    geometry_checks,
    appendix_d_checks,
    escape_checks,
    algorithm_checks,
    cost_checks,
)


def all_checks(seed: int) -> list[Check]:
    return [check for part in PARTS for check in part(seed)]
