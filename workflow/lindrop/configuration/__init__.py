"""Check and document the configuration of the workflow."""
