"""Small trainings of Pretorius 2018 on images, and the verdicts of their checks."""

from lindrop.claims.verdicts import verdict
from lindrop.papers.pretorius2018.networks import network, source_of, train

SMALL = {"hidden": 24, "rate": 0.9, "epochs": 2500, "every": 25, "noise": 1.0, "decay": 0.002}
LINEAR = {"hidden": 64, "rate": 0.02, "epochs": 8000, "variance": 0.05, "decay": 0.05}
PAPER_IMAGES = {"published": "MNIST", "count": 50_000, "layout": "mnist", "name": "mnist"}


def trained(images, activation, kind, folder, **settings):
    """A training of a small network, with its checkpoint in the folder, and its source."""
    net = network(activation, kind, SMALL | settings, 2)
    source = source_of(images, kind, net, "code")
    return train(images, net, folder / "checkpoint.h5", source), source


def verdicts(checks):
    """Whether each check holds, by what it says (without its data) and its form."""
    return {(check.what.split(": ", 1)[1], check.form): check.holds for check in checks}


def by_claim(checks):
    """The verdict of each claim."""
    return {
        claim: verdict([check for check in checks if check.claim == claim])
        for claim in dict.fromkeys(check.claim for check in checks)
    }
