"""The floor that every model has to leave behind."""

from lindrop.models.base import Fit, Popularity, Training


def fit_popularity(data: Training) -> Fit:
    return Fit(Popularity(data.gram_diagonal))
