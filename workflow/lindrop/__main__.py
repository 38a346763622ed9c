"""`python -m lindrop` is the command `lindrop`."""

from lindrop.cli.app import main

main()
