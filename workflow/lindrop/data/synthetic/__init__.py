"""Seeded implicit feedback at any scale: topics that are low-rank, groups that are not.

A topic and session sampler whose work is proportional to the number of interactions:

* Items have a long-tailed (Zipf-Mandelbrot) popularity and are partitioned into small *groups* of
  near-duplicates, such as a series and its sequels; the members of a group have a similar
  popularity and the same topics.
* A *topic* is a distribution over items, proportional to popularity; a group belongs to a few
  topics, so topics overlap.
* A user has a long-tailed (log-normal) number of interactions and a sparse mixture of topics, and
  takes items in *sessions*: the first item comes from one of the user's topics (or, as noise, from
  the popularity of all items), the further ones are the next members of its group. How many follow
  depends on the group: some are taken as a whole, some hardly hang together.

A model of rank k can learn the topics. The groups have about as many dimensions as there are
groups, so a model of lower rank has to miss a part of them, and some items are much better
predicted by others than their neighbours are.
"""
