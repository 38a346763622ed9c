"""The experiments of Mianjy 2018, and its claims, each checked by numbers."""
