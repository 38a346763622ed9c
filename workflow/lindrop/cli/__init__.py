"""The command `lindrop`: from a table of interactions to recommendations, without Snakemake."""
