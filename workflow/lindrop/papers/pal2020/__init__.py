"""The experiments of Pal 2020 (structured dropout), and its claims, each checked by numbers."""
