"""Parameters of synthetic datasets, and presets for them."""

from dataclasses import dataclass, replace

MOST_ITEMS = 1 << 24  # items have 24 bits of a sort key
MOST_USERS = 1 << 31  # user codes are int32


@dataclass(frozen=True)
class Recipe:
    """Parameters of a synthetic dataset; it has exactly these users, items and interactions.

    popularity_exponent, popularity_shift: an item of popularity rank r has weight
        (r + shift) ** -exponent.
    activity_sigma: standard deviation of the logarithm of a user's number of items above
        min_per_user.
    topics: number of topics; None means 1.5 √items.
    topics_per_group, topic_decay: number of topics of a group, each with topic_decay times the
        weight of the one before.
    topics_per_user, concentration: number of topics of a user (repeats allowed), with
        Dirichlet(concentration) weights.
    group_size: mean size of a group; sizes are the two integers next to the mean.
    group_spread: deviation of the members' popularity levels from the group's, in units of the
        spread between groups.
    stickiness: mean over groups of the probability that one more item of the group follows, which
        is uniform in 0 … 2 stickiness.
    noise: probability that a session starts from the popularity of all items and not from the
        user's topics.
    """

    users: int
    items: int
    interactions: int
    min_per_user: int = 5
    min_per_item: int = 5
    popularity_exponent: float = 2.0
    popularity_shift: float = 60.0
    activity_sigma: float = 0.9
    topics: int | None = None
    topics_per_group: int = 2
    topic_decay: float = 0.5
    topics_per_user: int = 5
    concentration: float = 0.5
    group_size: float = 5.0
    group_spread: float = 0.3
    stickiness: float = 0.25
    noise: float = 0.5

    @property
    def max_per_user(self) -> int:
        """Most items of a user: a third of the catalogue, so that enough are left to rank."""
        return max(self.min_per_user, self.items // 3)

    def problem(self) -> str | None:
        """Reason why no dataset can have these sizes, or None if one can."""
        if self.items >= MOST_ITEMS or self.users >= MOST_USERS:
            return f"at most {MOST_ITEMS:,} items and {MOST_USERS:,} users can be made"
        least = max(self.users * self.min_per_user, self.items * self.min_per_item)
        most = self.users * self.max_per_user
        if self.max_per_user > self.items or self.min_per_item > self.users:
            return (
                f"{self.users:,} users × {self.items:,} items are too few for "
                f"{self.min_per_user} items a user and {self.min_per_item} users an item"
            )
        if not least <= self.interactions <= most:
            return (
                f"{self.users:,} users × {self.items:,} items can have {least:,} to {most:,} "
                f"interactions, not {self.interactions:,}"
            )
        return None


# `demo` is calibrated (docs/data.md). The other presets have the counts of the published datasets
# after the filters. For ML-20M and Netflix the protocol needs min_per_item 1 only, but with 10 each
# item also occurs among the training users, as the printed number of items requires.
PRESETS = {
    "demo": Recipe(60_000, 1_000, 3_000_000),
    "ml-20m": Recipe(136_677, 20_108, 9_990_682, 5, 10, 1.3, 60.0, 1.2),
    "netflix": Recipe(463_435, 17_769, 56_880_000, 5, 10, 1.3, 80.0, 1.2),
    "msd": Recipe(571_355, 41_140, 33_633_450, 20, 200, 1.1, 50.0, 1.2),
}


def recipe_of(preset: str, **sizes: int | None) -> Recipe:
    """A preset, with the sizes that are not None in place of its own."""
    given = {name: size for name, size in sizes.items() if size is not None}
    return replace(PRESETS[preset], **given)
