"""The experiments of each paper, and the checks of its claims."""
