"""The files that one stage hands to the next: one module each, with its only writer and reader.

Every HDF5 file carries `lindrop_file` (its kind and version) and `source` (JSON: where the data
came from). Files are written under a temporary name, flushed to disk and renamed: what has its
final name is whole. A file of another kind or version is refused.
"""
