"""What only the workflow needs: the configuration, its documentation, hashes of code."""
