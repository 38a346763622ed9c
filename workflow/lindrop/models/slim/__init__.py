"""SLIM (Ning and Karypis 2011): a sparse item-item matrix, one elastic net for every item."""
