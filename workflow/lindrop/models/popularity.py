"""Popularity, the baseline that every personalised model has to beat."""

from lindrop.models.base import Fit, Popularity, Training


def fit_popularity(data: Training) -> Fit:
    """Fit that scores every item by its number of training users."""
    return Fit(Popularity(data.gram_diagonal))
