"""Generate synthetic implicit feedback of any size from a seed.

The sampler draws topics and sessions; its work is proportional to the number of interactions:

* Items have a long-tailed (Zipf-Mandelbrot) popularity and are partitioned into small *groups* of
  near-duplicates, such as a series and its sequels; the members of a group have a similar
  popularity and the same topics.
* A *topic* is a distribution over items, proportional to popularity; a group belongs to a few
  topics, so topics overlap.
* A user has a long-tailed (log-normal) number of interactions and a sparse mixture of topics, and
  takes items in *sessions*: the first item comes from one of the user's topics (or, as noise, from
  the popularity of all items), the others are the next members of its group. The probability that
  another member follows differs between groups.

A low-rank model can learn the topics. The groups span about as many dimensions as there are groups,
so a model of lower rank cannot learn all of them. Since the probability to follow differs, some
items are predicted much better by the other members of their group than other items are.
"""
