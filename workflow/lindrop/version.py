"""The version of lindrop, stated here only."""

VERSION = "0.1.0"
