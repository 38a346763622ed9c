"""Shows a run of Snakemake as one bar with the time left: `snakemake --logger lindrop`.

Snakemake finds this package by its name and imports it at every start; modules that only the bar
needs are therefore imported when a bar is shown.
"""

from snakemake_logger_plugin_lindrop.handler import LogHandler

__all__ = ["LogHandler"]
