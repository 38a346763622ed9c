"""Readers and writers of the files that stages of the workflow exchange, one module per file type.

Every HDF5 file has the attributes `lindrop_file` (its kind and version) and `source` (JSON: the
origin of the data), and before them the seal, checksums that are compared on reading
(store/seal.py). Files are written under a temporary name, flushed to disk and renamed, so that
a file with its final name is complete. A file of another kind or version is refused.
"""
