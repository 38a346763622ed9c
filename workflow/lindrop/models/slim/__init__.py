"""SLIM (Ning and Karypis 2011): a sparse items × items matrix, one elastic net per column."""
