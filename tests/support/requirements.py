"""What the requirements of the project need not name."""

import sys

KNOWN = {"lindrop", "snakemake", *sys.stdlib_module_names}
